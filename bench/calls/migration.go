package calls

// migration is a change of a schema in three steps, one after the other. Two of them
// belong to a database specialist.
var migration = job{
	name:        "migration",
	objective:   "Split the column orders.address into parts, without a minute of downtime.",
	constraints: []string{"Each step can be undone by itself.", "No statement may hold a lock on orders for over one second."},
	people:      []string{"tom", "ines", "kofi"},
	agents:      []agent{{"dba", "PostgreSQL, migrations of large tables"}, {"coder", "writes Go in this code base"}},
	talk: []message{
		{"tom", `Here is what we want to do and why. orders.address is a text column in which the address was stored as the customer typed it, lines separated by
newlines. The new tax service wants street, postal code, city and country apart, and it refuses about 4 % of the requests because our parser guesses the
country wrongly at the time of the request. We want five columns, filled once by a better parser, checked, and written by the checkout from then on. The
table has 212 million rows, 61 GB with its indexes 140 GB, about 300,000 new rows a day, and it is partitioned by month since 2021; what is older is in
one partition, orders_old, with 74 million rows. The readers are checkout, fulfilment, invoices, the tax service, and the reports.`},
		{"ines", `From the side of operations: PostgreSQL 15.6, primary with 32 processors and two replicas, logical replication to the warehouse with the slot wh_main.
Autovacuum on orders is set to 1 %, and it runs for about 50 minutes on the newest partition. The largest pain of the last migration in May was not the
lock but the replication lag: the backfill of 90 million rows made 180 GB of write-ahead log in two hours, the slot could not keep up, and the disk of
the primary went to 93 %. We stopped it by hand at three in the morning. So please: batches, with a pause when the lag of any replica is above 30
seconds or the slot retains more than 20 GB, and no batches between 18:00 and 22:00 in the time of Berlin, when most orders come in.`},
		{"kofi", `The code: orders.address is read in eleven places, of which seven go through the type order.Address with the method Lines. The others use the text
directly: invoices/pdf.go line 212, fulfilment/label.go line 77, the export in reports/orders.sql, and the search index in search/feed.go line 140. The
checkout writes it in one place only, checkout/store.go line 301, inside the transaction that also takes the stock. There is a trigger on the table,
orders_touch, which sets updated_at on each update, and the warehouse loads everything whose updated_at is new. If the backfill touches all rows, the
warehouse loads 212 million rows again, which took it two days the last time and stopped the daily reports.`},
		{"tom", `I had not thought of the trigger. We could disable it in the session that fills, with session_replication_role = replica, but then foreign keys are not
checked either, and logical replication treats it differently; I would have to read about that. Another way is a when clause on the trigger that ignores
updates which change the new columns only. About the quality of the parser: I ran the new one on a sample of 200,000 addresses from all years. 97.1 %
are parsed with all parts, 2.2 % lack a postal code, which is right for about half of them (Ireland before 2015, some states of the Gulf), and 0.7 %
are nothing at all: "same as last time", "call me", or an e-mail address. For these the columns stay null and address_state is 'unparsed'.`},
		{"ines", `Null is fine for operations. Please do not add a check constraint that is validated at once; adding it "not valid" and validating later takes only a
weak lock. On 15.6 adding a nullable column without a default is instant, that is no problem even on the parent of partitions, but it needs an access
exclusive lock for a moment, and if a long query of the reports is running, everything queues behind us. Last time lock_timeout was not set and checkout
stood for 47 seconds. So: lock_timeout 500 ms and up to 20 attempts, which is what scripts/ddl.sh does if it is used. The reports run from 02:00 to 04:30.`},
		{"kofi", `For the application I would go in the usual order: first the code that writes both (the text and the parts) behind the flag address_parts, then the
backfill, then the readers one after the other, then stop reading the text, and at last make the text nullable. The type order.Address can hide most of
it: it gets the parts if they are there and parses the text if not. The tests have 1,900 fixtures with an address as text; I do not want to touch them in
the same change. Two other services read the table directly, without our code: the tax service (which we want to change anyway) and a script of the
finance team which runs on the first of the month, finance/closing.py, and reads address with a regular expression for "Northern Ireland".`},
		{"tom", `The closing script is owned by Petra; she is away until the 30th, and the next closing is on the 1st. So nothing that changes or empties the text before
the closing in the month after. That is fine, because the text stays for now. About undoing: each step needs a way back that does not lose what was
written in between. If the code that writes both is rolled back, rows that were written meanwhile have parts that nobody updates, and an address that is
edited afterwards has old parts. So the backfill has to be able to run again for rows whose parts do not match the text, and we need a column with the
digest of the text from which the parts were made. It is 16 bytes a row, 3.4 GB in all. I think that it is worth it.`},
		{"ines", `3.4 GB is acceptable. Please note that a wider row means fewer heap-only updates on the newest partitions: fillfactor is 90 there and 100 on all the
older ones, so in the older partitions each updated row goes to a new page, and every index gets a new entry; there are nine indexes. Two of them are
hardly used: orders_address_trgm, 19 GB, 40 scans since June, all from the support tool, and orders_legacy_ref. If the first could go before the
backfill, we save about a third of the write-ahead log. The support tool has its own search since August, so I believe that it is not needed, but
one of us must ask them. I have asked in their channel today and will write here when they answer.`},
		{"kofi", `An answer about the search feed: it takes the text as it is and does not care for the parts; leave it. The label code does care: the carriers want
40 characters a line at most and label.go cuts after 40, which gives wrong labels for about 200 orders a week; with the parts we can do it well, but that
is another ticket. The invoices must print what the customer has typed, for legal reasons, for orders before this change. So the text has to stay for
those for ten years, whatever we do with the column. I suggest that we do not plan to drop it at all, and say so in the document.`},
		{"ines", `Support has answered: the index orders_address_trgm can go, they have not used that page since September. I will drop it concurrently on Sunday night,
partition by partition. The disk of the primary has 410 GB free at the moment, of 1.2 TB; the alert is at 85 %. One more request, since I have to approve
the change: give me the exact statements and the order in which they run, an estimate of the duration, of the write-ahead log and of the disk that is
needed in between, and for each step the statement that undoes it. Not a sketch. I have two hours tomorrow morning for it.`},
		{"tom", `@lead please make the plan that Ines needs, with the statements, then have the change of the checkout and of order.Address written on a branch that
follows it, and at the end have the plan checked against that code, by the one who knows the database. Tell us here what we have to decide.`},
	},
	rounds: [][]step{
		{{
			agent:   "dba",
			task:    "Write migrations/plan-address.md: the statements in their order to add and fill the address columns of orders (212 million rows, partitioned by month), batches, pauses, undo of each step, estimates. Answer with a summary of at most 130 words.",
			context: `{"keywords":["replication lag","lock_timeout"]}`, seconds: 240,
			result: `The plan is in migrations/plan-address.md. 1. Six columns on the parent (street, postal_code, city, region, country, address_digest), lock_timeout
500 ms by scripts/ddl.sh, not from 02:00 to 04:30. 2. The trigger orders_touch gets a when clause that leaves out the new columns, so the warehouse loads
nothing again. 3. Backfill by partition, newest first, 5,000 rows a batch by primary key, pause at a lag of 30 s or 20 GB retained, none from 18:00 to
22:00: 31 hours of work in 4 nights, 95 GB of write-ahead log, 38 GB of disk. 4. Vacuum after each partition. 5. Constraint not valid, validated by
partition. Each step has its undo. To decide: whether orders_old is filled at all (74 million rows, 11 hours).`,
		}},
		{{
			agent:   "coder",
			task:    "Follow migrations/plan-address.md on a new branch address-parts: checkout/store.go writes the parts and address_digest behind the flag address_parts, order.Address prefers the parts if the digest matches. Leave fixtures, invoices and search alone. Run the tests. Answer in at most 80 words.",
			context: `{"keywords":["flag address_parts"]}`, seconds: 280,
			result: `Branch address-parts, 6 files, 214 lines, all tests pass. checkout/store.go:301 writes the text, the parts and the digest in the same statement if the
flag is on. order.Address has Parts(), which parses the text if the digest is absent or differs; Lines is unchanged. The digest is the first 16 bytes of
SHA-256 of the text after NFC. Not done: the edit of an address in the support tool writes the text only (support/edit.go:58), so its rows count as
changed and the backfill must visit them again.`,
		}},
		{{
			agent:   "dba",
			task:    "Check migrations/plan-address.md against the branch address-parts: does the code write what the plan fills, is the digest the same in SQL and in Go, does each undo hold with the new code running? Correct the plan. Answer in at most 90 words.",
			context: "", seconds: 150,
			result: `Two errors, both corrected in the plan. The digest: SQL took the text without NFC, so 1.3 % of the rows would never match; normalize(address, NFC) does it
in PostgreSQL 15. The undo of step 1 dropped the columns while the flag was on, which breaks the checkout; the flag is switched off first now, and the
plan waits for 60 s. The trigger's when clause has to name address_digest too. A second pass of the backfill finds edits by support by the digest:
about 900 rows a day, 2 minutes.`,
		}},
	},
	conclusion: `The plan is in migrations/plan-address.md, with statements, undo and estimates for Ines: 31 hours in four nights, 95 GB of write-ahead log, 38 GB of
disk. The code is on the branch address-parts behind the flag address_parts; the check found two errors in the plan, which are corrected. To decide:
(1) is orders_old filled, 74 million rows and 11 hours; I would leave it out. (2) support/edit.go writes the text only; change it now, or run the second
pass each night. (3) We say in the document that the text is never dropped. Nothing changes for closing.py before the next closing.`,
}
