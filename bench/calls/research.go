package calls

// research is a question in three parts, which three agents answer at the same time.
var research = job{
	name:        "research",
	objective:   "Choose how the field devices report their measurements from next year on.",
	constraints: []string{"State the source of each figure.", "A device may not use over 40 MB a month."},
	people:      []string{"lena", "omar", "yuki"},
	agents:      []agent{{"protocols", "network protocols"}, {"power", "energy use of radio modules"}, {"costs", "prices and contracts"}},
	talk: []message{
		{"lena", `Background for all who are new here. We have 18,400 devices in the field, mostly water meters and some weather stations, in nine countries. Each takes a
measurement every 5 minutes, 22 bytes, and reports once an hour over 2G with HTTP/1.1 and TLS 1.2, a POST of JSON to ingest.example. The operators switch
2G off: Switzerland is done, Norway follows at the end of next year, the rest by 2029. The new modem is decided, it does LTE-M and NB-IoT and nothing
else. Not decided are the protocol above it, the interval, and the operator. The devices run from two lithium cells which are meant to last
ten years; in the field they last seven on average, and a visit costs us 140 euros.`},
		{"omar", `The cost of the present protocol in bytes, measured in the lab in June over 1,000 reports: a report carries 264 bytes of measurements in 1,480 bytes of
JSON. The TLS handshake with the full certificate chain is 5.3 KB, a resumed one 0.6 KB, but the server restarts each night and forgets its tickets, and
the modem changes its address in 30 % of the hours, so that only 41 % of the handshakes are resumed. HTTP headers are 610 bytes to the server and 290
back. TCP adds 520 bytes. In sum 5.9 KB an hour on average, 4.3 MB a month, so the limit of 40 MB is far. But the radio is on for 9 seconds an hour, of
which 6 are the handshake and the tail in which the network keeps the connection open. The energy is in the seconds and not in the bytes.`},
		{"yuki", `I looked at the firmware side. The controller has 256 KB of RAM and 1 MB of flash, of which the TLS stack with its certificates takes 190 KB of flash and
48 KB of RAM at the peak. There is room for one more stack next to it during a transition but not for two. We have libraries that were tried on this
controller: an MQTT 3.1.1 client (14 KB), a CoAP client with blockwise transfer (22 KB), and DTLS 1.2 with connection ids (31 KB on top of the TLS stack,
because they share the ciphers). LwM2M is what the module's vendor recommends; its client is 61 KB with the objects that we need, and brings the update
of the firmware, which is something that we made ourselves in 2019 and that has cost us much, including the 300 bricked devices in Porto.`},
		{"lena", `On the side of the servers: ingest is a Go service of 2,100 lines behind an nginx, which writes to Kafka. It handles 5 requests a second on average and
600 in the first seconds of each hour, because all devices wake at the full hour; that was a mistake which the firmware 4 corrects by a random minute.
The operations team has experience with MQTT: the cluster for the pumps is VerneMQ with 900 clients. None of us has experience with CoAP. We would need
something that ends DTLS and speaks to Kafka. Customers who run their own servers, there are three of them with 2,600 devices, have said that they will
not open UDP ports towards the internet, at least not before their next audit. For them TCP has to stay possible.`},
		{"omar", `About NB-IoT and UDP: with the mode "non-IP" or with plain UDP and no connection the radio is on for 1.4 to 2.2 seconds for one report of 300 bytes, in
good coverage (CE level 0). In bad coverage (level 2, meters in cellars, about 12 % of ours) each byte is repeated up to 128 times, and the same report
takes 20 to 40 seconds; there a handshake of 5 KB is a catastrophe, it did not finish within 120 seconds in four of ten attempts. LTE-M has higher rates
and less coverage in cellars, and it keeps the connection over cells, NB-IoT does not. Power saving mode and release assistance matter as much as the
protocol: with release assistance the tail of 10 to 20 seconds in which the radio listens is cut to less than one. Not every operator has it switched on.`},
		{"yuki", `The figures for the cells: 2 x 19 Ah at 3.6 V, of which about 70 % can be used in our temperatures, so 96 Wh. The measurements themselves and the
controller in sleep take 41 microampere on average, which is 13 Wh in ten years. The rest is for the radio: 83 Wh in 87,600 hours, 0.95 mWh for each hour
if we report once an hour. The modem takes 0.7 W when it sends at 23 dBm, 0.2 W when it receives and 0.09 W in the tail. If I take the 9 seconds of today
I get 1.6 mWh, which explains why they last seven years and not ten. A report each six hours would be enough for billing, but two of our customers use
the hourly figures to find leaks, and pay for that.`},
		{"lena", `Contracts: today we pay 0.42 euros a month for each SIM with 50 MB, in a pool. The contract ends next October. There are three offers. Operator A: LTE-M
and NB-IoT in all nine countries by roaming, 0.55 euros with 10 MB, release assistance "on request". Operator B: NB-IoT in seven countries, 10 euros for
ten years with 500 MB in all, prepaid, nothing after that. Operator C: 0.38 euros with 30 MB, LTE-M in all and NB-IoT in four. None of the offers says
what happens with UDP sessions in their address translation: B told me on the telephone that a mapping is dropped after 60 seconds without traffic, which
matters when the server wants to reach a device.`},
		{"omar", `When the server wants to reach a device: it does so seldom. A new interval, a firmware update, a request for the raw data of a day when a customer doubts
a bill. All of these can wait for the next report, then the answer carries it. So the mapping is no problem if each exchange is begun by the device; a
connection id keeps the DTLS session over a change of the address. I do not know how many sessions a server can hold, and for how long: for
18,400 devices in a table in memory it is nothing, but a restart must not lose it, or all devices handshake at the same time, in cellars too. Does
anybody know a DTLS server that stores its sessions? I found only one that claims it.`},
		{"yuki", `One remark about security before we settle it: with pre-shared keys the handshake of DTLS is 4 flights and about 400 bytes in all, with certificates
2.5 to 5 KB. Our production writes a device key into each controller at the end of the line already, because of the firmware signatures; a second one
costs nothing but the storage at our side. Our customer in Lyon requires that keys can be changed in the field. OSCORE would protect the message
itself, through proxies too, with about 12 bytes a message and no handshake, but it is what nobody of us has used, and the library has had one release.`},
		{"lena", `For the time plan: the board is on the 12th. They want one recommendation with the figures, and not a comparison of everything with everything. The order
of magnitude matters to them: years of the cells, euros for ten years with the visits, and what we have to build. The firmware team has two people for
five months. Production of the new board begins in May, and what is not in the firmware by then must come by an update over the air, which is what we
wanted to avoid. I made a sheet with the sums of the present system, it is in the folder as costs.xlsx; radio measurements are in lab/june.csv.`},
		{"lena", `@lead please find out which protocol we should take with which operator and interval. It has three parts: the protocol with its overhead and what the
servers need, the energy in good and in bad coverage with the years that the cells last, and the costs for ten years with the visits. I need one page and
one recommendation, with sources, by tomorrow evening.`},
	},
	rounds: [][]step{{
		{
			agent:   "protocols",
			task:    "Compare HTTP with TLS 1.3, MQTT, CoAP with DTLS 1.2 and connection ids, and LwM2M for one report of 300 bytes an hour over NB-IoT, 12 % of 18,400 devices in bad coverage: bytes, round trips, what the servers need, TCP for three customers. Recommend one, with sources, in at most 120 words.",
			context: `{"keywords":["blockwise"]}`, seconds: 290,
			result: `CoAP over DTLS 1.2 with connection ids (RFC 7252, RFC 9146) and pre-shared keys. One report: 300 bytes of CBOR + 4 of CoAP + 29 of DTLS + 28 of UDP/IP,
one round trip; handshake 400 bytes, once in months. MQTT with TLS 1.3 resumed: 1.1 KB and 3 round trips, because the address changes. LwM2M is CoAP with
4 % more bytes; take its objects for firmware update only (RFC 9019 describes the manifest). Servers: a DTLS end that stores sessions is 1,200 lines with
pion/dtls v3, which has connection ids and exports its state. CoAP over TCP (RFC 8323) serves the three customers with the same code.`,
		},
		{
			agent:   "power",
			task:    "From lab/june.csv and the data sheet of the modem: energy of one report of 400 bytes by UDP and of one with a TLS handshake, at CE level 0 and 2, with and without release assistance, and how many years two cells of 19 Ah last at 1, 2 and 6 hours. At most 110 words, with sources.",
			context: `{"keywords":["microampere"]}`, seconds: 260,
			result: `lab/june.csv, 2,400 reports, and the data sheet, table 31. UDP, level 0: 0.38 mWh with release assistance, 0.71 without. Level 2: 5.2 and 5.9 mWh. With a
TLS handshake: 1.3 and 1.7 at level 0, 31 at level 2, where 38 % fail. Years of the cells, self-discharge of 1 % included: UDP each hour with release
assistance 14.1 at level 0, and 2.4 at level 2; each 6 hours 17 and 8.6. So meters in cellars cannot report hourly with any protocol; 4 reports a day
at level 2 and hourly elsewhere gives a mean of 12.9 years. Without release assistance it is 10.2.`,
		},
		{
			agent:   "costs",
			task:    "Sum up the costs of ten years for 18,400 devices with the operators A, B and C, from costs.xlsx: SIM, visits for cells that last 7, 10 and 13 years, servers, two firmware developers for five months. Name what the offers leave open. At most 110 words.",
			context: `{"keywords":["Operator A"]}`, seconds: 170,
			result: `costs.xlsx and the three offers. SIM for ten years: A 1.21 million euros, B 0.18, C 0.84. Visits: cells of 7 years 2.6 million and one visit and a half a
device, 10 years 1.3, 13 years 0.2. Servers 60,000, development 75,000 in all. So the life of the cells matters more than the operator, if release
assistance is there: A 1.5 million with it, 2.6 without. B lacks two countries, 1,150 devices, and 500 MB are enough for UDP only (22 MB a year). Left
open: release assistance of B and C, the price of B after 500 MB, and whether A may end roaming after a year.`,
		},
	}},
	conclusion: `Recommendation: CoAP over DTLS 1.2 with connection ids and pre-shared keys, hourly reports, four a day where coverage is at level 2, with operator B in seven
countries and A in the two others. Cells then last 12.9 years on average instead of 7 (lab/june.csv), and ten years cost 0.6 million euros instead of 3.4.
The three customers without UDP get the same messages over TCP. To build: the server's end of DTLS, 1,200 lines, and the change in the firmware before
May. One condition: B confirms release assistance in writing; without it the cells last 10.2 years, and A is as good. Sources are in the parts.`,
}
