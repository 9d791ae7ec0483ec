// Replays recordings of gax-java (`tests/data/*.jsonl`) with the gax on the class path, under a clock that only this program moves. Prints how
// many cases of each kind agree and every case that doesn't, which also makes the exit status 1. Kinds: `unary`, `streaming` and `poll` drive the
// algorithm; `callable` is the `expected_callable` of a unary case, through `Callables.retrying`; `validate` builds settings; `http` maps statuses.

import com.google.api.core.ApiClock;
import com.google.api.core.ApiFuture;
import com.google.api.core.ApiFutures;
import com.google.api.gax.grpc.GrpcCallContext;
import com.google.api.gax.grpc.GrpcStatusCode;
import com.google.api.gax.httpjson.HttpJsonStatusCode;
import com.google.api.gax.longrunning.OperationTimedPollAlgorithm;
import com.google.api.gax.retrying.*;
import com.google.api.gax.rpc.*;
import com.google.api.gax.rpc.StatusCode.Code;
import com.google.api.gax.tracing.ApiTracer;
import com.google.gson.*;
import io.grpc.Status;
import java.lang.reflect.Proxy;
import java.nio.file.*;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.*;
import java.util.concurrent.*;
import java.util.logging.LogManager;

@SuppressWarnings({"deprecation", "removal"})
public class Replay {
    static class Clock implements ApiClock {
        long nanos;

        public long nanoTime() { return nanos; }
        public long millisTime() { return nanos / 1_000_000; }
        void sleepMillis(long millis) { nanos += millis * 1_000_000; }
    }

    // Settings of a case without jitter. A `logical_timeout_us` is set by its shorthand; the case's other fields show the outcome.
    static RetrySettings.Builder settings(JsonObject of) {
        RetrySettings.Builder builder = RetrySettings.newBuilder().setJittered(false).setMaxAttempts(of.get("max_attempts").getAsInt())
            .setInitialRetryDelayDuration(time(of, "initial_retry_delay_us")).setMaxRetryDelayDuration(time(of, "max_retry_delay_us"))
            .setRetryDelayMultiplier(of.get("retry_delay_multiplier").getAsDouble());
        if (of.has("logical_timeout_us")) return builder.setLogicalTimeout(time(of, "logical_timeout_us"));
        return builder.setTotalTimeoutDuration(time(of, "total_timeout_us")).setInitialRpcTimeoutDuration(time(of, "initial_rpc_timeout_us"))
            .setRpcTimeoutMultiplier(of.get("rpc_timeout_multiplier").getAsDouble()).setMaxRpcTimeoutDuration(time(of, "max_rpc_timeout_us"));
    }

    static Duration time(JsonObject of, String name) { return Duration.of(of.get(name).getAsLong(), ChronoUnit.MICROS); }

    static long micros(Duration duration) { return Math.addExact(Math.multiplyExact(duration.getSeconds(), 1_000_000L), duration.getNano() / 1000); }

    static Set<Code> codes(JsonObject of) {
        Set<Code> codes = new HashSet<>();
        if (of.has("retryable_codes")) of.getAsJsonArray("retryable_codes").forEach(code -> codes.add(Code.valueOf(code.getAsString())));
        return codes;
    }

    // What the server does in each attempt, and what was seen of it. An attempt without an end throws.
    static class Script {
        final Clock clock = new Clock();
        final JsonArray steps;
        final JsonArray attempts = new JsonArray();
        JsonObject step;

        Script(JsonObject one) { steps = one.getAsJsonArray("script"); }

        String attempt(Duration timeout, long delay, JsonObject row) {
            step = steps.get(Math.min(attempts.size(), steps.size() - 1)).getAsJsonObject();
            boolean limited = timeout.compareTo(Duration.ZERO) > 0, answers = !step.get("server_us").isJsonNull();
            long deadline = timeout.toMillis() * 1000, start = clock.nanos / 1000;
            String answer = answers ? step.get(step.has("result") ? "result" : "code").getAsString() : null;
            if (!limited && !answers) throw new IllegalStateException("hangs");
            boolean late = limited && (!answers || step.get("server_us").getAsLong() >= deadline);
            clock.nanos += (late ? deadline : step.get("server_us").getAsLong()) * 1000;
            row.addProperty("attempt", attempts.size() + 1);
            row.addProperty("rpc_timeout_us", micros(timeout));
            row.addProperty("retry_delay_us", delay);
            row.addProperty("start_us", start);
            row.addProperty("end_us", clock.nanos / 1000);
            row.addProperty("outcome", late ? "DEADLINE_EXCEEDED" : answer);
            attempts.add(row);
            return late ? "DEADLINE_EXCEEDED" : answer;
        }

        JsonObject result(String end, String code) {
            JsonObject result = new JsonObject();
            result.add("attempts", attempts);
            result.addProperty("end", end);
            result.addProperty("final_code", code);
            result.addProperty("end_us", clock.nanos / 1000);
            return result;
        }
    }

    static class Failure extends Exception {
        Failure(String code) { super(code); }
    }

    // The algorithm alone: unary, streaming and poll differ in the classes that decide.
    static JsonObject algorithm(JsonObject one) {
        Script script = new Script(one);
        RetrySettings settings = settings(one.getAsJsonObject("settings")).build();
        Set<Code> codes = codes(one);
        String kind = one.get("kind").getAsString();
        boolean poll = kind.equals("poll"), streaming = kind.equals("streaming");
        BasicResultRetryAlgorithm<String> results = new BasicResultRetryAlgorithm<>() {
            @Override
            public boolean shouldRetry(Throwable failure, String response) {
                if (poll) return failure == null && response.equals("NOT_DONE");
                return failure != null && codes.contains(Code.valueOf(failure.getMessage()));
            }
        };
        ExponentialRetryAlgorithm timed = poll ? OperationTimedPollAlgorithm.create(settings, script.clock)
            : new ExponentialRetryAlgorithm(settings, script.clock);
        RetryAlgorithm<String> algorithm = streaming ? new StreamingRetryAlgorithm<>(results, timed) : new RetryAlgorithm<>(results, timed);

        // A poll's attempt 0 is the wait for the initial call, or a poll if that has been answered.
        Duration context = one.has("call_context") ? time(one.getAsJsonObject("call_context"), "timeout_us") : Duration.ZERO;
        boolean initial = poll && !one.has("initial_answered_before_first_look");
        if (poll && !initial) script.attempt(context, 0, new JsonObject());
        TimedAttemptSettings attempt = algorithm.createFirstAttempt();
        while (true) {
            Duration timeout = initial ? Duration.ZERO : attempt.getRpcTimeoutDuration();
            if (!context.isZero() && (timeout.isZero() || timeout.compareTo(context) > 0)) timeout = context;
            initial = false;
            JsonObject row = new JsonObject();
            if (streaming) {
                row.addProperty("attempt_count", attempt.getAttemptCount());
                row.addProperty("overall_attempt_count", attempt.getOverallAttemptCount());
            }
            script.clock.sleepMillis(attempt.getRandomizedRetryDelayDuration().toMillis());
            String outcome = script.attempt(timeout, micros(attempt.getRandomizedRetryDelayDuration()), row);
            if (outcome.equals("OK") || outcome.equals("DONE")) return script.result(poll ? "done" : "success", "OK");
            Throwable failure = outcome.equals("NOT_DONE") ? null : new Failure(outcome);
            boolean seen = streaming && script.step.get("responses").getAsInt() > 0;
            boolean resumes = streaming && (!seen || one.get("resumable").getAsBoolean());
            Throwable given = streaming ? new ServerStreamingAttemptException(failure, resumes, seen) : failure;
            boolean retryable = results.shouldRetry(failure, outcome);
            TimedAttemptSettings next = algorithm.createNextAttempt(null, given, outcome, attempt);
            boolean again;
            try {
                again = algorithm.shouldRetry(null, given, outcome, next);
            } catch (CancellationException refused) {
                return script.result("cancelled_" + limit(timed, next), null);
            }
            if (again) {
                attempt = next;
                continue;
            }
            if (!retryable) return script.result(poll ? "error" : "non_retryable", outcome);
            if (streaming && !resumes) return script.result("not_resumable", outcome);
            JsonObject result = script.result(limit(timed, next), outcome);
            if (!streaming) {
                JsonObject denied = new JsonObject();
                denied.addProperty("attempt", script.attempts.size() + 1);
                denied.addProperty("retry_delay_us", micros(next.getRandomizedRetryDelayDuration()));
                denied.addProperty("rpc_timeout_us", micros(next.getRpcTimeoutDuration()));
                result.add("denied_next", denied);
            }
            return result;
        }
    }

    // Which limit refused: the total timeout if it does so without a number of attempts.
    static String limit(ExponentialRetryAlgorithm timed, TimedAttemptSettings next) {
        RetrySettings settings = next.getGlobalSettings();
        if (settings.getTotalTimeoutDuration().isZero()) return settings.getMaxAttempts() == 0 ? "no_limits" : "max_attempts";
        try {
            RetrySettings uncounted = settings.toBuilder().setMaxAttempts(0).build();
            return timed.shouldRetry(next.toBuilder().setGlobalSettings(uncounted).build()) ? "max_attempts" : "total_timeout";
        } catch (CancellationException refused) {
            return "total_timeout";
        }
    }

    // What a client runs. It doesn't tell which limit ended the call, so that is `limit` here.
    static JsonObject callable(JsonObject one) {
        Script script = new Script(one);
        Set<Code> codes = codes(one);
        long[] delay = {0};
        Deque<Runnable> later = new ArrayDeque<>();
        ScheduledExecutorService executor = new ScheduledThreadPoolExecutor(0) {
            @Override
            public ScheduledFuture<?> schedule(Runnable task, long millis, TimeUnit unit) {
                later.add(() -> {
                    delay[0] = millis * 1000;
                    script.clock.sleepMillis(millis);
                    task.run();
                });
                return null;
            }
        };
        UnaryCallable<String, String> server = new UnaryCallable<>() {
            @Override
            public ApiFuture<String> futureCall(String request, ApiCallContext context) {
                Duration timeout = context.getTimeoutDuration();
                String outcome = script.attempt(timeout == null ? Duration.ZERO : timeout, delay[0], new JsonObject());
                if (outcome.equals("OK")) return ApiFutures.immediateFuture(outcome);
                boolean retryable = codes.contains(Code.valueOf(outcome));
                GrpcStatusCode code = GrpcStatusCode.of(Status.Code.valueOf(outcome));
                return ApiFutures.immediateFailedFuture(ApiExceptionFactory.createException(outcome, null, code, retryable));
            }
        };
        JsonArray traced = new JsonArray();
        ApiTracer tracer = (ApiTracer) Proxy.newProxyInstance(Replay.class.getClassLoader(), new Class<?>[] {ApiTracer.class}, (self, method, values) -> {
            String name = method.getName();
            if (name.equals("attemptStarted")) traced.add("attemptStarted(" + values[values.length - 1] + ")");
            else if (name.equals("attemptFailedDuration"))
                traced.add("attemptFailed(" + ((Throwable) values[0]).getMessage() + ",delay_us=" + micros((Duration) values[1]) + ")");
            else if (name.startsWith("attempt")) traced.add(name + (values == null ? "" : "(" + ((Throwable) values[0]).getMessage() + ")"));
            return method.getReturnType() == boolean.class ? (Object) false : null;
        });
        ApiCallContext context = GrpcCallContext.createDefault().withTracer(tracer);
        if (one.has("call_context")) {
            JsonObject given = one.getAsJsonObject("call_context");
            if (given.has("timeout_us")) context = context.withTimeoutDuration(time(given, "timeout_us"));
            if (given.has("retry_settings")) context = context.withRetrySettings(settings(given.getAsJsonObject("retry_settings")).build());
            if (given.has("retryable_codes")) context = context.withRetryableCodes(codes(given));
        }
        UnaryCallSettings<String, String> settings = UnaryCallSettings.<String, String>newUnaryCallSettingsBuilder()
            .setRetrySettings(settings(one.getAsJsonObject("settings")).build()).setRetryableCodes(codes).build();
        ClientContext client = ClientContext.newBuilder().setExecutor(executor).setClock(script.clock)
            .setDefaultCallContext(GrpcCallContext.createDefault()).build();
        ApiFuture<String> call = Callables.retrying(server, settings, client).futureCall("", context);
        while (!later.isEmpty()) later.remove().run();
        try {
            String response = call.get(0, TimeUnit.SECONDS);
            return traced(script.result("success", response), traced);
        } catch (ExecutionException failure) {
            String last = traced.get(traced.size() - 1).getAsString();
            String end = last.startsWith("attemptPermanentFailure") ? "non_retryable" : "limit";
            return traced(script.result(end, failure.getCause().getMessage()), traced);
        } catch (InterruptedException | TimeoutException unfinished) {
            throw new IllegalStateException(unfinished);
        }
    }

    static JsonObject traced(JsonObject result, JsonArray traced) {
        result.add("tracer", traced);
        return result;
    }

    static JsonElement expectedOfCallable(JsonObject one) {
        JsonElement expected = one.get("expected_callable");
        if (!expected.isJsonObject()) expected = one.get("expected");
        JsonObject result = expected.getAsJsonObject().deepCopy();
        result.remove("denied_next");
        if (Set.of("total_timeout", "max_attempts", "no_limits").contains(result.get("end").getAsString())) result.addProperty("end", "limit");
        return result;
    }

    static final Map<String, int[]> agreed = new TreeMap<>();

    static void compare(String kind, String id, JsonElement expected, Callable<JsonElement> run, String... ignored) {
        JsonElement actual;
        try {
            actual = run.call();
        } catch (Exception error) {
            boolean hangs = "hangs".equals(error.getMessage());
            actual = hangs ? JsonNull.INSTANCE : new JsonPrimitive(error.toString());
        }
        if (actual.isJsonObject() && expected.isJsonObject())
            for (String name : ignored) if (!expected.getAsJsonObject().has(name)) actual.getAsJsonObject().remove(name);
        boolean equal = expected.equals(actual);
        agreed.computeIfAbsent(kind, unused -> new int[2])[equal ? 0 : 1]++;
        if (!equal) System.out.println(kind + " " + id + "\n  recorded " + expected + "\n  now      " + actual);
    }

    static JsonObject validate(JsonObject settings) {
        String error = null;
        try {
            settings(settings).build();
        } catch (IllegalStateException invalid) {
            error = invalid.getMessage();
        }
        JsonObject result = new JsonObject();
        result.addProperty("ok", error == null);
        result.addProperty("error", error);
        return result;
    }

    public static void main(String[] files) throws Exception {
        LogManager.getLogManager().reset();
        for (String file : files) {
            for (String line : Files.readAllLines(Path.of(file))) {
                JsonObject one = JsonParser.parseString(line).getAsJsonObject();
                if (one.has("http")) {
                    if (one.has("code")) {
                        int status = one.get("http").getAsInt();
                        compare("http", "" + status, one.get("code"), () -> new JsonPrimitive(HttpJsonStatusCode.of(status).getCode().name()));
                    } else {
                        Code code = Code.valueOf(one.get("code_to_http").getAsString());
                        compare("http", code.name(), one.get("http"), () -> new JsonPrimitive(code.getHttpStatusCode()));
                    }
                    continue;
                }
                String id = one.get("id").getAsString(), kind = one.get("kind").getAsString();
                if (kind.equals("validate")) {
                    JsonObject expected = new JsonObject();
                    for (String name : List.of("ok", "error")) expected.add(name, one.get(name));
                    compare(kind, id, expected, () -> validate(one.getAsJsonObject("settings")));
                    continue;
                }
                if (one.has("expected")) {
                    JsonElement expected = one.get("expected").deepCopy();
                    // Whoever makes the attempts writes a tracer's lines: here only the callable.
                    if (expected.isJsonObject()) expected.getAsJsonObject().remove("tracer");
                    compare(kind, id, expected, () -> algorithm(one));
                }
                if (one.has("expected_callable")) compare("callable", id, expectedOfCallable(one), () -> callable(one), "tracer");
            }
        }
        agreed.forEach((kind, counts) -> System.out.println(kind + ": " + counts[0] + " agree, " + counts[1] + " differ"));
        System.exit(agreed.values().stream().anyMatch(counts -> counts[1] > 0) ? 1 : 0);
    }
}
