import { openBrowser } from '../accounts/passkeys/browser.js';
import { isLive, logInAs } from '../page/stage.js';

/**
 * Opens the page so many times in a browser of a process of its own, all of one user, and tells when
 * each hears events: `pagevisitors.js <url> <count> <username>`.
 */
const [url = '', count = '', username = ''] = process.argv.slice(2);
const browser = await openBrowser();
const context = await browser.newContext();
process.on('disconnect', () => void browser.close().then(() => process.exit()));
const first = await context.newPage();
await first.goto(url);
await logInAs(first, username);
for (let opened = 1; opened < Number(count); opened++) {
  const page = await context.newPage();
  await page.goto(url);
  await isLive(page);
}
process.send?.('open');
