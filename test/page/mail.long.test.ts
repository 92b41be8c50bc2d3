import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { unless, withChromium } from '../accounts/passkeys/browser.js';
import { type MailStage, missing, openMailStage } from '../email/stage.js';
import { until, untilAtLeast } from '../harness/app.js';
import { openPageOf, type PageStage, type Visitor } from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const said = missing ? ` (${missing})` : unless;
const given = { ...withChromium, skip: withChromium.skip || missing !== null };

const NAME = 'figures <b>2026.csv';
const MESSAGE = [
  'From: Bob <bob@example.org>',
  'To: ada@example.test',
  'Subject: Figures',
  'Message-ID: <figures@example.org>',
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary="b"',
  '',
  '--b',
  'Content-Type: text/plain',
  '',
  'They are attached.',
  '--b',
  `Content-Type: text/csv; name="${NAME}"`,
  `Content-Disposition: attachment; filename="${NAME}"`,
  '',
  'month,sum',
  'May,31',
  '--b--',
  '',
].join('\r\n');

describe('mail on the page', () => {
  let mail: MailStage;
  let stage: PageStage;
  let visitor: Visitor;
  let accountId: string;

  before(async () => {
    if (given.skip) return;
    mail = await openMailStage();
    stage = await openPageOf(mail.app);
    await mail.dovecot.deliver('ada', MESSAGE);
    accountId = (await mail.account('ada')).body.id;
    visitor = await stage.enter('ada');
  });
  after(async () => {
    await stage?.browser.close();
    await mail?.stop();
  });

  it(`keeps a file of a message as a document, once, by keyboard alone${said}`, given, async () => {
    const { page, open, tabTo, violations, complaints, click } = visitor;
    const [message] = (await mail.call('GET', `/api/email/messages?accountId=${accountId}`)).body
      .messages;
    await open(`/mail/${message.id}`, 'h2:text("Files")');
    expect(await page.locator('.card').textContent()).to.contain(`${NAME} text/csv, 17 bytes`);
    await tabTo('.card button', 'Enter');
    await page.waitForSelector('[role=status]:has-text("Kept.")');
    const { documents } = (await mail.call('GET', '/api/documents')).body;
    expect(documents.map(({ filename }: { filename: string }) => filename)).to.equal([NAME]);
    expect(await violations()).to.equal([]);

    await open(`/mail/${message.id}`);
    await click('.card button', '[role=status]:has-text("This file was already in")');
    expect((await mail.call('GET', '/api/documents')).body.documents.length).to.equal(1);
    expect(complaints).to.equal([]);
  });

  it(
    `shows a draft with its account and the names of its files, and sends it${said}`,
    given,
    async () => {
      const { documents } = (await mail.call('GET', '/api/documents')).body;
      const attachments = documents.map(({ id }: { id: string }) => id);
      const draft = { to: ['bob@example.test'], subject: 'Figures', text: 'Here.', attachments };
      await mail.call('POST', '/api/email/drafts', draft);
      const { page, open, violations } = visitor;
      await open('/mail?show=drafts', '.card:has-text("From ada@example.test")');
      const shown = (await page.locator('.card').textContent()) ?? '';
      expect(shown).to.contain('To bob@example.test');
      expect(shown).to.contain(`Attachments: ${NAME} (`);
      expect(await violations()).to.equal([]);
      await page.click('.card button:has-text("Send")');
      await page.click('button:has-text("Send it")');
      await untilAtLeast(async () => mail.smtp.taken.map(({ to }) => to), 1);
      expect(mail.smtp.taken.map(({ to }) => to)).to.equal([['bob@example.test']]);
      await page.waitForSelector('text=No drafts.');
    },
  );

  it(`searches at the mail server, and narrows the list${said}`, given, async () => {
    const other = MESSAGE.replace('<figures@', '<lunch@')
      .replace('Subject: Figures', 'Subject: Lunch')
      .replace('They are attached.', 'The lasagne is ready.');
    const reply = MESSAGE.replace('<figures@', '<more@')
      .replace('Subject: Figures', 'Subject: Re: Figures\r\nIn-Reply-To: <figures@example.org>')
      .replace('They are attached.', 'A rise of the rent.');
    for (const each of [other, reply]) await mail.dovecot.deliver('ada', each);
    mail.clock.forward(60_000);
    const { page, open, tabTo, violations, click } = visitor;
    const shown = () => page.locator('.card strong').allTextContents();
    await open('/mail', '.card:has-text("Lunch")');
    expect((await shown()).sort()).to.equal(['Figures', 'Lunch', 'Re: Figures']);
    await tabTo('input[type=search]');
    await page.keyboard.type('lasagne');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/mail?q=lasagne');
    await until(shown, (subjects) => subjects.join() === 'Lunch');
    expect(await violations()).to.equal([]);
    await page.selectOption('select[name=category], label:has-text("Category") select', 'spam');
    await page.waitForSelector('text=No matching e-mails.');
    await page.goto(`${new URL(page.url()).origin}/mail`);
    await page.click('strong:text-is("Figures")');
    await click('a:text("Whole conversation")', 'text=One conversation.');
    await until(shown, (subjects) => subjects.length === 2);
    expect((await shown()).sort()).to.equal(['Figures', 'Re: Figures']);
  });

  it(`keeps an answer as a draft, and sends nothing${said}`, given, async () => {
    const sent = mail.smtp.taken.length;
    const { page, open, tabTo, violations, complaints, click } = visitor;
    await open('/mail');
    await click('strong:text-is("Lunch")', 'text=To Bob <bob@example.org>');
    await tabTo('textarea');
    await page.keyboard.type('I come.');
    await page.keyboard.press('Enter');
    await page.keyboard.type('Ada');
    expect(await violations()).to.equal([]);
    await tabTo('button.main', 'Enter');
    await click('a:text("your drafts")', '.card:has-text("To bob@example.org")');
    const [draft] = (await mail.call('GET', '/api/email/drafts')).body.drafts;
    expect(draft).to.include({ subject: 'Re: Lunch', text: 'I come.\nAda' });
    expect(mail.smtp.taken.length).to.equal(sent);
    expect(complaints).to.equal([]);
  });

  it(`cancels an e-mail that waits${said}`, given, async () => {
    const { page, open, tabTo, violations, press } = visitor;
    mail.smtp.isRight = () => false;
    const letter = { to: ['bob@example.org'], subject: 'A mistake', text: 'Hello' };
    const { id } = (await mail.call('POST', '/api/email/send', letter)).body;
    await open('/mail?show=sent', '.card:has-text("A mistake") button:text("Cancel")');
    await tabTo('button.danger', 'Enter');
    await page.waitForSelector('[role=group] button:focus');
    expect(await violations()).to.equal([]);
    await press('Enter', '.card:has-text("A mistake"):has-text("cancelled")');
    expect((await mail.call('GET', `/api/email/sent/${id}`)).body.status).to.equal('cancelled');
    mail.smtp.isRight = () => true;
  });

  it(`leads from what needs the user to the mail${said}`, given, async () => {
    await stage.app.app.store.db
      .updateTable('mail_accounts')
      .set({ status: 'failing', error: 'the server is gone' })
      .where('id', '=', accountId)
      .execute();
    const { page, open, click } = visitor;
    await open('/');
    await click('.card:has-text("Mail account") a', 'h1:text("Mail")');
    expect(new URL(page.url()).pathname).to.equal('/mail');
  });
});
