// Requests to the server. Every error is a Problem.

// A Problem is why the server has refused a request: code, what, where and fix.
export class Problem extends Error {
  constructor(p) {
    super(p.detail ?? p.title ?? "the request has failed");
    Object.assign(this, { code: p.code, status: p.status, where: p.where, fix: p.fix, errors: p.errors ?? [] });
  }
}

async function send(method, path, body) {
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new Problem({ code: "PAGE-OFFLINE", detail: "the server does not answer", fix: "start `moot serve` again; this page connects by itself" });
  }
  if (response.ok) return response.status === 204 ? null : response.json();
  let p = { status: response.status, detail: response.statusText };
  if (response.headers.get("Content-Type")?.includes("json")) p = await response.json();
  throw new Problem(p);
}

// postLines sends a request whose answer is lines of JSON, and yields them as they come.
// An abort of signal ends it, on the server too.
export async function* postLines(path, body, signal) {
  const response = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal });
  if (!response.ok) throw new Problem(response.headers.get("Content-Type")?.includes("json") ? await response.json() : { status: response.status, detail: response.statusText });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const lines = (rest + part.value).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line !== "") yield JSON.parse(line);
  }
}

export const get = (path) => send("GET", path);
export const post = (path, body = {}) => send("POST", path, body);
export const del = (path) => send("DELETE", path);

// socketURL is the address of a WebSocket of this server.
export function socketURL(path) {
  const url = new URL(path, location.href);
  url.protocol = url.protocol.replace("http", "ws");
  return url.href;
}
