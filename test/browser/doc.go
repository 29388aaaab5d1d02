// Package browser tests HTML pages of moot in Chromium. It is a module of its
// own, so that users of moot do not depend on chromedp. Without Chromium its
// tests are skipped; with CI=true they fail.
package browser
