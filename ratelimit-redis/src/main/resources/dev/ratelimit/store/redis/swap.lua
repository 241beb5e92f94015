-- Swaps values: writes those of a unit if all of its keys still have the versions that the caller knows.
-- It only compares and writes. What to write was decided before.
--
-- KEYS     the keys, unit after unit
-- ARGV[1]  the moment that the values were decided for, in microseconds; empty if it need not be checked
-- ARGV[2]  one character for each key: 1 if a unit begins with it, 0 if it belongs to the unit of the key before
-- then for each key: the version that the caller knows, empty for no value; the new value, which begins with its version;
--                    when it expires, in milliseconds since the epoch, empty for never.
--                    No new value: the key is only checked. No new value and an expiry of 0: the key is deleted.
--
-- Returns the time of the server, in microseconds; then for each key 1 if its version was the known one, else its value, which
-- is empty if there is none. 0 if it is no string, and 2 if it is longer than any value of a limit: then it is not sent. A unit was
-- written if all of its keys returned 1. If the moment is not of the last second, nothing is written, and only the time is returned.

local call, byte, sub = redis.call, string.byte, string.sub
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local reply = {now}
if ARGV[1] ~= '' then
    local moment = tonumber(ARGV[1])
    if moment > now or now - moment > 1000000 then
        return reply
    end
end

local keys, args = KEYS, ARGV
local number = #keys
local starts = args[2]
-- All at once: for short values, each call costs more than what it reads. Lua can pass on a few thousand arguments.
local values
if number <= 1000 then
    values = call('MGET', unpack(keys))
else
    values = {}
    for from = 1, number, 1000 do
        local some = call('MGET', unpack(keys, from, math.min(from + 999, number)))
        for i = 1, #some do
            values[from + i - 1] = some[i]
        end
    end
end
local first = 1
while first <= number do
    local last = first
    while last < number and byte(starts, last + 1) == 48 do
        last = last + 1
    end
    local unchanged = true
    for i = first, last do
        local value, new = values[i], args[3 * i + 1]
        local version = value and sub(value, 1, 8) or ''
        if not value and call('EXISTS', keys[i]) == 1 then
            -- The key is a list or something else. Only its own unit must fail.
            unchanged = false
            reply[i + 1] = 0
        elseif #version == 8 and #value > 200000 then
            -- Another application wrote it: the longest log takes 160,000 bytes. To send it would hold up all others.
            unchanged = false
            reply[i + 1] = 2
        -- The new version is there already if the same command was sent twice.
        elseif version == args[3 * i] or (#new > 0 and version == sub(new, 1, 8)) then
            reply[i + 1] = 1
        else
            unchanged = false
            reply[i + 1] = value or ''
        end
    end
    if unchanged then
        for i = first, last do
            local new, expiry = args[3 * i + 1], args[3 * i + 2]
            if #new == 0 then
                if expiry == '0' then
                    call('DEL', keys[i])
                end
            elseif expiry == '' then
                call('SET', keys[i], new)
            else
                call('SET', keys[i], new, 'PXAT', expiry)
            end
        end
    end
    first = last + 1
end
return reply
