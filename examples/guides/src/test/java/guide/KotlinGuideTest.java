package guide;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import org.jetbrains.kotlin.cli.common.ExitCode;
import org.jetbrains.kotlin.cli.jvm.K2JVMCompiler;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.io.DefaultResourceLoader;

/** Compiles the Kotlin of docs/how-to/kotlin.md, and runs it. */
class KotlinGuideTest {

    @TempDir
    Path classes;

    @Test
    void kotlinIsLimitedAsJavaIs() throws Exception {
        compile(Documents.ROOT.resolve("examples/guides/src/main/kotlin/guide/kotlin/KotlinApplication.kt"));

        try (URLClassLoader loader = new URLClassLoader(
                        new URL[] {classes.toUri().toURL()}, getClass().getClassLoader());
                ConfigurableApplicationContext application = start(loader)) {
            assertThat(login(application, "guess")).isEqualTo(401);
            assertThat(login(application, "guess")).isEqualTo(401);
            assertThat(login(application, "guess")).isEqualTo(429);
        }
    }

    private void compile(Path source) {
        ExitCode exit = new K2JVMCompiler()
                .exec(
                        System.err,
                        "-no-stdlib",
                        "-no-reflect",
                        "-java-parameters",
                        "-jvm-target",
                        "17",
                        "-classpath",
                        System.getProperty("java.class.path"),
                        "-d",
                        classes.toString(),
                        source.toString());
        assertThat(exit).isEqualTo(ExitCode.OK);
    }

    private static ConfigurableApplicationContext start(ClassLoader loader) throws ClassNotFoundException {
        return new SpringApplicationBuilder(loader.loadClass("guide.kotlin.KotlinApplication"))
                .resourceLoader(new DefaultResourceLoader(loader))
                .run(
                        "--spring.config.name=none",
                        "--server.port=0",
                        "--spring.autoconfigure.exclude=" + WithoutLogins.EXCLUDED,
                        "--ratelimit.store.type=memory",
                        "--ratelimit.limits.login.algorithm=fixed-window",
                        "--ratelimit.limits.login.max-requests=2",
                        "--ratelimit.limits.login.window=365d");
    }

    private static int login(ConfigurableApplicationContext application, String password) throws Exception {
        String port = application.getEnvironment().getProperty("local.server.port");
        HttpRequest request = HttpRequest.newBuilder(
                        URI.create("http://localhost:" + port + "/login?username=alice&password=" + password))
                .POST(BodyPublishers.noBody())
                .build();
        return HttpClient.newHttpClient().send(request, BodyHandlers.ofString()).statusCode();
    }
}
