package dev.ratelimit.starter;

import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Somebody who logs in to an application from an address, which the application believes since it trusts its own machine.
 */
record LoginClient(RunningApplication application, String address) {

    HttpResponse<String> basic(String path, String name, String password) throws Exception {
        String credentials = name + ":" + password;
        return application.get(
                path,
                "X-Forwarded-For",
                address,
                "Authorization",
                "Basic " + Base64.getEncoder().encodeToString(credentials.getBytes(StandardCharsets.UTF_8)));
    }

    int status(String name, String password) throws Exception {
        return basic("/closed", name, password).statusCode();
    }

    HttpResponse<String> form(String name, String password) throws Exception {
        return post("/login", "application/x-www-form-urlencoded", "username=" + name + "&password=" + password);
    }

    HttpResponse<String> post(String path, String type, String body) throws Exception {
        return application.post(path, type, body, "X-Forwarded-For", address);
    }

    /** Sends the same so many times, one after another. */
    List<Integer> times(int times, Callable<Integer> request) throws Exception {
        List<Integer> statuses = new ArrayList<>();
        for (int i = 0; i < times; i++) {
            statuses.add(request.call());
        }
        return statuses;
    }

    /** Sends the same so many times at once. */
    List<Integer> together(int times, Callable<Integer> request) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(times);
        try {
            List<Future<Integer>> answers = new ArrayList<>();
            for (int i = 0; i < times; i++) {
                answers.add(threads.submit(request));
            }
            List<Integer> statuses = new ArrayList<>();
            for (Future<Integer> answer : answers) {
                statuses.add(answer.get());
            }
            return statuses;
        } finally {
            threads.shutdownNow();
        }
    }
}
