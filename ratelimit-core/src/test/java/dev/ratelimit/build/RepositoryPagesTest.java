package dev.ratelimit.build;

import static dev.ratelimit.build.BuildFiles.ROOT;
import static dev.ratelimit.build.BuildFiles.child;
import static dev.ratelimit.build.BuildFiles.children;
import static dev.ratelimit.build.BuildFiles.mavenProperties;
import static dev.ratelimit.build.BuildFiles.pom;
import static dev.ratelimit.build.BuildFiles.read;
import static dev.ratelimit.build.BuildFiles.text;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The pages and files that visitors of the repository expect: they exist, and their links lead somewhere. */
class RepositoryPagesTest {
    private static final Pattern CODE = Pattern.compile("(?ms)^\\s*```.*?^\\s*```\\s*$|`[^`\n]*`");
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
    private static final Pattern HEADING = Pattern.compile("(?m)^#+ +(.+?) *$");

    @ParameterizedTest
    @ValueSource(
            strings = {
                "LICENSE",
                "README.md",
                "CHANGELOG.md",
                "CONTRIBUTING.md",
                "SECURITY.md",
                "UPGRADING.md",
                "CODE_OF_CONDUCT.md",
                ".github/ISSUE_TEMPLATE/bug.yml",
                ".github/ISSUE_TEMPLATE/feature.yml",
                ".github/pull_request_template.md"
            })
    void visitorsFind(String file) {
        assertThat(ROOT.resolve(file)).isNotEmptyFile();
    }

    @ParameterizedTest
    @MethodSource("dev.ratelimit.build.BuildFiles#pages")
    void linksLeadSomewhere(Path page) {
        List<String> broken = new ArrayList<>();
        for (MatchResult link :
                LINK.matcher(CODE.matcher(read(page)).replaceAll("")).results().toList()) {
            String target = link.group(1);
            if (!target.matches("(https?|mailto):.*") && !leadsSomewhere(page, target)) {
                broken.add(target);
            }
        }
        assertThat(broken).as("broken links in " + ROOT.relativize(page)).isEmpty();
    }

    private static boolean leadsSomewhere(Path page, String target) {
        String[] parts = target.split("#", 2);
        Path file = parts[0].isEmpty() ? page : page.resolveSibling(parts[0]).normalize();
        if (Files.notExists(file)) {
            return false;
        }
        return parts.length == 1 || anchors(read(file)).contains(parts[1]);
    }

    /** As GitHub makes them: lower case, spaces as hyphens, a number behind repeated ones. */
    private static Set<String> anchors(String page) {
        Set<String> anchors = new TreeSet<>();
        Map<String, Integer> seen = new HashMap<>();
        HEADING.matcher(page).results().forEach(heading -> {
            String anchor = heading.group(1)
                    .toLowerCase(Locale.ROOT)
                    .replaceAll("[^\\p{L}\\p{N} _-]", "")
                    .replace(' ', '-');
            int times = seen.merge(anchor, 1, Integer::sum);
            anchors.add(times == 1 ? anchor : anchor + "-" + (times - 1));
        });
        return anchors;
    }

    @Test
    void workflowRunsTheScriptOnEveryJdkAndEverySpringBoot() {
        String workflow = read(".github/workflows/ci.yml");
        assertThat(workflow).contains("run: .ci/run ");
        assertThat(workflow).contains("java: [" + mavenProperties().get("maven.compiler.release") + ", 21, 25]");
        assertThat(workflow)
                .as("the reports of every module, also in folders such as examples")
                .contains("path: \"**/target/surefire-reports/\"");

        Set<String> profiles = new TreeSet<>();
        children(child(pom("."), "profiles"), "profile")
                .map(profile -> text(profile, "id"))
                .filter(id -> id.startsWith("boot-"))
                .forEach(id -> profiles.add("-P" + id));
        assertThat(Pattern.compile("-Pboot-[0-9.]+").matcher(workflow).results().map(MatchResult::group))
                .as("profiles of Spring Boot in .github/workflows/ci.yml, compared with pom.xml")
                .isNotEmpty()
                .containsExactlyInAnyOrderElementsOf(profiles);
    }
}
