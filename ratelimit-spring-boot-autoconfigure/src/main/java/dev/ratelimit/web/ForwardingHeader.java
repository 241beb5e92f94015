package dev.ratelimit.web;

/** The header in which trusted proxies name the client. */
public enum ForwardingHeader {
    X_FORWARDED_FOR,
    FORWARDED,
    /** Whichever the proxy writes: see {@link ForwardingHeaders}. */
    AUTO
}
