// Numbers, times and sizes as people read them.

// clock is m:ss or h:mm:ss of a time in nanoseconds.
export function clock(ns) {
  const s = Math.max(0, Math.floor(ns / 1e9));
  const two = (n) => String(n).padStart(2, "0");
  return s < 3600 ? `${Math.floor(s / 60)}:${two(s % 60)}` : `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
}

// seconds is a duration in nanoseconds: with one decimal, in milliseconds if it is short.
export const seconds = (ns) => (ns < 1e8 ? `${Math.round(ns / 1e6)} ms` : `${(ns / 1e9).toFixed(1)} s`);

// tokens is a number of tokens, with ~ if a part is an estimate.
export function tokens(n, estimated) {
  const text = n < 1000 ? String(n) : n < 1e6 ? `${(n / 1e3).toFixed(n < 1e4 ? 1 : 0)}k` : `${(n / 1e6).toFixed(1)}M`;
  return (estimated ? "~" : "") + text;
}

// cost is an amount in millionths of a dollar.
export const cost = (millionths, estimated) => `${estimated ? "~" : ""}$${(millionths / 1e6).toFixed(millionths < 1e4 ? 4 : 2)}`;

// time is the hour of a date in the browser's zone.
export const time = (at) => new Date(at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" });

// hour is time without the seconds.
export const hour = (at) => new Date(at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });

// day is the date for people.
export const day = (at) => new Date(at).toLocaleDateString([], { weekday: "long", day: "numeric", month: "long" });

// count is a number with its noun.
export const count = (n, one, more = one + "s") => `${n} ${n === 1 ? one : more}`;

// ago is how long ago a date was, in words.
export function ago(at) {
  const s = Math.max(0, (Date.now() - Date.parse(at)) / 1000);
  if (s < 60) return "just now";
  const words = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  if (s < 3600) return words.format(-Math.floor(s / 60), "minute");
  if (s < 86400) return words.format(-Math.floor(s / 3600), "hour");
  return s < 30 * 86400 ? words.format(-Math.floor(s / 86400), "day") : new Date(at).toLocaleDateString([], { day: "numeric", month: "short", year: "numeric" });
}
