// Package report renders the figures of a replay.
//
// A [Report] is the model. Its JSON form is the contract of `moot replay -o
// json`. All other forms are made of its tables: [Report.WriteText] aligns
// their columns, [Report.WriteMarkdown] writes them as Markdown, and
// [Report.WriteHTML] writes one page with tables and charts that works without
// a network.
//
// [Diff] compares two reports, and [Report.Judge] tests a report against
// conditions. Explanations and checks have text forms here too.
package report
