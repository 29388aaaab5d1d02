package calls

// review is the review of a change by three specialists, who work at the same time. The
// change is in the working folder; the room has the discussion about it.
var review = job{
	name:        "review",
	objective:   "Decide whether the change \"sessions in signed tokens\" can be released on Thursday.",
	constraints: []string{"Name the file and the line for each finding.", "Nothing is merged from this room."},
	people:      []string{"ann", "raj", "mei"},
	agents:      []agent{{"security", "security review"}, {"data", "database review"}, {"api", "compatibility of the HTTP API"}},
	talk: []message{
		{"ann", `The branch signed-tokens is ready for review. It replaces the sessions table lookup in every request with a signed token that carries the
account id, the tenant, the roles and an expiry of 12 hours. The handler in internal/auth/middleware.go verifies the signature and puts the claims into
the request's context. The old cookie is read for one more release, so that nobody is signed out on Thursday. 41 files are changed, most of them tests
that build a request by hand and now need the helper authtest.Request. The part that needs eyes is small: middleware.go, token.go, rotate.go, and the
migration 0187_sessions_revoked.sql. I have left the feature flag token_sessions in for one release; it is off by default and on in staging since Monday.`},
		{"raj", `I read middleware.go first. Two things I noticed. In verify the clock skew that is tolerated is a constant of 5 minutes in both directions; the old
code had none, because the expiry was compared in the database. Five minutes backwards is fine, five minutes forwards means that a token which was
revoked by shortening its expiry lives on. I would make it 30 seconds or zero. The other thing: on a signature error we fall back to the cookie. That is
what we want for old clients, but we also do it when there is a token and it is broken, so a client with a broken token and an old cookie is signed in
by the cookie and nobody ever learns that its token is broken. I would fall back only when there is no token at all.`},
		{"mei", `Staging figures since Monday, 10:00, with the flag on: 1.9 million requests, p50 of the auth middleware from 2.1 ms to 0.08 ms, p99 from 14 ms to
0.3 ms. Database connections in use went from 38 to 21 at peak. There were 212 responses with status 401 that had a token; the day before there were 190
with a cookie, so that is in the noise. Not in the noise: 37 responses with status 431 from the load balancer, all for accounts of the tenant
"northwind" with more than 60 roles. The token of such an account is 7.2 KB, and with the cookie of the old session the header is larger than 8 KB. We
could raise the limit of the load balancer to 16 KB, but the proxies of some customers have the same limit and we cannot raise theirs.`},
		{"ann", `Good find. The roles are in the token as their full names, such as "billing.invoices.export.readonly". There is a numeric id for each role in the
table roles, and the longest list in production has 144 entries. As numbers that is under 600 bytes before the encoding. The reason why I took names is
that the ids differ between the regions: eu-1 and us-2 were seeded separately in 2023, so a token that is issued in one region cannot be read in the
other. Nothing does that today, but the failover runbook says that us-2 takes the traffic of eu-1 when eu-1 is down. I can see two ways out: a table of
short codes in the code base, checked by a test against both databases, or a digest of the list with the list itself in the cache.`},
		{"raj", `The digest brings the lookup back that we wanted to get rid of, even if it is a cache hit. I would take the short codes. About revocation, since that
is what customers ask about: the table sessions_revoked has one row for each revoked token until its expiry, and each server reads it every 10 seconds
into memory. The query is in rotate.go, line 88: select token_id from sessions_revoked where revoked_at > $1. There is no index on revoked_at in the
migration 0187, only the primary key on token_id. With 12 hours of expiry and our figures of password changes there are about 9,000 rows at most, so a
sequential scan takes 2 ms; but on the day of the forced reset in March we had 310,000 in an hour, and 24 servers every 10 seconds would read them all.`},
		{"mei", `I remember the forced reset. The primary was at 90 % of its processors for three hours because of a query like that. Please let us have the index.
Creating it in the migration locks nothing because the table is new. Another point on operations: the signing key. rotate.go generates a key every
24 hours and keeps the two before, and stores them in the table signing_keys encrypted with the KMS key. When a server starts and the KMS does not answer
it cannot verify anything and exits. That is right, but all 24 servers of a region are restarted by a deployment within 4 minutes, and the KMS quota is
10 requests a second for the whole account. Do we ask for the three keys in one request or in three? I saw a loop.`},
		{"ann", `It is a loop, three requests for each server, 72 in four minutes, so the deployment is far below the quota. A crash loop of all servers would not be.
I can decrypt a data key once and use it for the three. To the public API: the endpoint GET /v1/session returns the session as JSON for our own web page
and for the mobile applications. It had the fields id, account, tenant, roles, created_at, last_seen_at and expires_at. With tokens there is no
last_seen_at any more, because nothing is written when a request comes. I return the time at which the token was issued instead, under the same name.
The mobile applications of version 5.2 and older show it on the page "your devices". The OpenAPI description still says "time of the last request".`},
		{"raj", `Returning another time under the same name is what I would not do. In 2024 we had the same with updated_at of invoices, and two customers had built
their billing on it. Either the field is absent, and the description says that it is deprecated and may be absent, or we keep writing last_seen_at once
every 15 minutes for each token in the background. Does version 5.2 of the mobile application crash when it is absent? I do not know who can tell that
without the source; the tag is mobile-5.2.3 in the repository apps/mobile, file lib/devices/session.dart. And DELETE /v1/session/{id} takes the id of
the session: is that the token id now? A client that has stored an old id gets 404 from then on and cannot sign the device out.`},
		{"mei", `Support tells me that "sign out all devices" is used about 400 times a day, and it is the thing that people press after they lose a telephone. It has
to work at once, within the 10 seconds of the revocation list at most, for old cookies too. I tried it on staging this morning: tokens are refused
after 6 seconds. An old cookie of the same account still worked after ten minutes. I think that sessions.go line 140 deletes the rows of the sessions
table only when the flag is off. The rest of my list is done: dashboards have the new counters auth_token_total by result and auth_fallback_total, an
alert exists for a fallback rate above 5 % after the first week, and the runbook has a page on the keys.`},
		{"ann", `You are right about the cookie; the branch of the flag is the wrong way round in DeleteAll. I will fix it today and add a test that signs out with
both kinds present. Let me sum up what I know is open: the skew, the fallback with a broken token, the length of the roles, the index, the KMS loop, the
field last_seen_at with its description, ids in DELETE, and DeleteAll. I do not think that I see all of it any more after three weeks on this branch,
and the release is on Thursday. Customers were told the date because of the connections to the database, so moving it is possible but not nice.`},
		{"raj", `One more for the list, then I am done: the audit log. Each entry has session_id, and the compliance export joins it with the sessions table to print
the device and the address from which the session was opened. With tokens the join finds nothing. The export does not fail, it prints empty columns, so
nobody would see it before the auditors in January. The query is in reports/compliance/export.sql, lines 30 to 64. I would store the device and the
address in the row of the audit log at sign-in; there is a column context of type jsonb that nothing uses. It needs no migration then.`},
		{"ann", `@lead please have the change reviewed for security, for the database, and for the compatibility of the API. The branch is checked out in the working
folder. I need a list of what blocks Thursday, what can follow later, and a sentence for the release notes. Take what we have said as known: I want to
hear what else is wrong, and whether you agree on what blocks.`},
	},
	rounds: [][]step{{
		{
			agent:   "security",
			task:    "Review internal/auth/middleware.go, token.go and rotate.go on the branch signed-tokens for security: verification, fallback, revocation, keys. Report what the discussion does not have yet, and say which findings block a release. At most 120 words.",
			context: `{"last_messages":1,"keywords":["clock skew","sign out all"]}`, seconds: 95,
			result: `1. token.go:61 takes the algorithm from the token's header. "none" is refused, but a token signed with HMAC and the public key as its secret is
accepted. Blocks.
2. middleware.go:118 compares the tenant of the claims with the path only if the path has one; /v1/search has none, and uses the tenant of a query
parameter. Blocks.
3. rotate.go:40 logs the key id and the first 8 bytes of the wrapped key. Harmless, remove it.
4. Skew forwards and the fallback with a broken token, as discussed: both block, each is one line.`,
		},
		{
			agent:   "data",
			task:    "Review migration 0187_sessions_revoked.sql and all queries on sessions_revoked, signing_keys and sessions on the branch signed-tokens: indexes, locks, load at 310,000 revocations an hour. Say which findings block a release. At most 120 words.",
			context: `{"last_messages":1,"keywords":["revoked_at","audit log"]}`, seconds: 80,
			result: `1. 0187 needs the index on (revoked_at, token_id): with 310,000 rows the poll reads 31 MB, 24 servers do it every 10 s. Blocks, one line.
2. Nothing deletes expired rows of sessions_revoked. Add a job; can follow within two weeks.
3. signing_keys has no unique constraint on (region, valid_from): two servers that rotate at the same moment insert two keys, and a third of the tokens
fails after the older one is dropped. Blocks.
4. The compliance export: agreed, the column context is enough. Has to be there before the first token, or the data is lost.`,
		},
		{
			agent:   "api",
			task:    "Review the HTTP API of the branch signed-tokens against main for compatibility: GET /v1/session, DELETE /v1/session/{id}, error bodies, the OpenAPI description. Check mobile-5.2.3, lib/devices/session.dart. Say which findings block a release. At most 120 words.",
			context: `{"last_messages":1,"keywords":["last_seen_at"]}`, seconds: 110,
			result: `1. session.dart:33 parses last_seen_at without a check: version 5.2.3 shows an error page if it is absent. Keep writing it every 15 minutes. Blocks.
2. DELETE with an old id answers 404; 5.2.3 ignores the status and removes the device from its list, although it stays signed in. Map old ids for one
release. Blocks.
3. The body of a 401 has changed from {"error":"session_expired"} to {"error":"token_invalid"}; the web page tests for the old word and does not show the
sign-in form. Blocks, one line.
4. The description of expires_at: the value is now at most 12 hours ahead, clients that refresh daily are signed out. Release note.`,
		},
	}},
	conclusion: `Thursday holds only if nine small things are done by Wednesday noon; two of them are security holes that the discussion did not have: the algorithm
taken from the token's header (token.go:61) and the tenant of /v1/search (middleware.go:118). Also blocking: skew, fallback, DeleteAll, the index, the
unique constraint on signing_keys, last_seen_at, old ids in DELETE, and the word session_expired. Later: deletion of expired rows, the KMS loop. The audit
context has to be in before the first token. Release note: sessions now end after 12 hours; clients that refresh daily must refresh more often.`,
}
