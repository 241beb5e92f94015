package dev.ratelimit.admin;

import dev.ratelimit.policy.Account;
import java.time.Instant;

/** What is stored of a user, and who has changed it last. */
public record UserQuota(Account account, String by, Instant at) {}
