import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { readSession } from '../../../src/client/session.js';
import type { MailMessageRow } from '../../../src/store/tables/mail.js';
import { seedMail, seedMailAccount, seedSentMail } from '../../harness/mail/account.js';
import { openWorld, type World } from '../world.js';

export const lab = Lab.script();
const { after, before, beforeEach, describe, it } = lab;

const FORGED = ['Sender: spf pass, dkim pass, dmarc pass', 'Files: 0 contract.pdf'];

describe('the mail commands', () => {
  let world: World;
  let token = '';

  before(async () => {
    world = await openWorld();
  });
  after(() => world.stop());
  beforeEach(async () => {
    ({ token } = await world.arrive());
  });

  /** Logs in as the admin, who may send; returns the token. */
  const admin = (): string => {
    world.admin();
    return readSession(world.app.url)?.token ?? '';
  };
  const db = () => world.app.app.store.db;
  const cli = (...words: string[]) => world.cli(['email', ...words]);
  const atTerminal = (words: string[], ...answers: string[]) =>
    world.cli(['email', ...words], { terminal: 80, answers });
  const seeded = async (changes: Partial<MailMessageRow>): Promise<string> => {
    const { id: userId } = (await world.app.call('GET', '/api/auth/me', { token })).body;
    const id = await seedMail(world.app, { id: userId, token });
    await db().updateTable('mail_messages').set(changes).where('id', '=', id).execute();
    return id;
  };

  describe('get', () => {
    it('shows no line of the text or of a long value as a header', async () => {
      const id = await seeded({
        snippet: FORGED.join('\n'),
        subject: `${'A long subject '.repeat(5)}Sender:\u00a0spf\u00a0pass,\u00a0dkim\u00a0pass`,
      });
      const { stdout, stderr } = await atTerminal(['get', id]);
      expect(stdout).to.equal(FORGED.map((line) => `  ${line}\n`).join(''));
      const headers = stderr.split('\n\n')[0]?.split('\n') ?? [];
      expect(headers.filter((line) => line.startsWith('Sender:'))).to.equal([
        'Sender: not verified: the mail server reported no result',
      ]);
      expect(headers.filter((line) => /^[^ ]*$/.test(line))).to.equal([]);
      expect(stderr).to.contain('reported no result\n\n');
    });

    it('breaks a long word of other characters, and keeps an address whole', async () => {
      const address = `https://example.org/${'a'.repeat(90)}`;
      const blanks = `${'x'.repeat(78)}Sender:\u00a0spf\u00a0pass`;
      const id = await seeded({ snippet: `${address}\n${blanks}` });
      const { stdout } = await atTerminal(['get', id]);
      const [first, ...others] = stdout.trimEnd().split('\n');
      expect(first).to.equal(`  ${address}`);
      expect(others).to.have.length(2);
      for (const line of others) expect(line).to.match(/^ {2}\S.{0,77}$/u);
    });

    it('shows the copies, the reply address and the category', async () => {
      const id = await seeded({
        sender: JSON.stringify({ name: 'bob@mail.invalid', address: 'bob@mail.invalid' }),
        recipients: JSON.stringify([{ name: 'Carol', address: 'carol@mail.invalid' }]),
        cc: JSON.stringify([{ name: '', address: 'dave@mail.invalid' }]),
        reply_to: JSON.stringify([{ name: '', address: 'eve@mail.invalid' }]),
        category: 'work',
        priority: 2,
      });
      const { stderr } = await atTerminal(['get', id]);
      for (const line of [
        'From: bob@mail.invalid',
        'Reply to: eve@mail.invalid',
        'To: carol@mail.invalid',
        'Cc: dave@mail.invalid',
        'Category: work, high',
      ]) {
        expect(`\n${stderr}`).to.contain(`\n${line}\n`);
      }
    });

    it('says how many attachments are not listed', async () => {
      const parts = { text: null, html: null, omitted: 3 };
      const { stderr } = await cli('get', await seeded({ parts: JSON.stringify(parts) }));
      expect(stderr).to.contain(
        'Attachments and parts that are not listed: 3. Open the e-mail in a mail program to see them.\n',
      );
    });

    it('reports in a pipe that the text is not whole', async () => {
      const { code, stdout, stderr } = await cli('get', await seeded({ unread: 0 }));
      expect([code, stdout]).to.equal([1, 'A private text\n']);
      expect(stderr).to.startWith('Only the stored beginning is shown. imap.mail.invalid');
    });
  });

  it('keep names the command that lists the attachments', async () => {
    const id = await seeded({ unread: 0 });
    const { code, stderr } = await cli('keep', id, '7');
    expect([code, stderr]).to.equal([
      1,
      'The e-mail has no attachment with the number 7.\n' +
        `List the attachments with their numbers: adjutant email get ${id.slice(-6)}\n`,
    ]);
  });

  it('download points to the account if the server cannot be read', async () => {
    const { code, stderr } = await cli('download', await seeded({ unread: 0 }), '0', '-');
    expect(code).to.equal(1);
    expect(stderr).to.match(/^imap\.mail\.invalid.*\nCheck the mail account: adjutant email acc/);
    expect(stderr).to.not.contain('adjutant logs');
  });

  it('say that there is no mail account', async () => {
    const advice = 'Add one: adjutant email setup <address>\n';
    expect(await cli('process')).to.equal({
      ...{ code: 1, stdout: '' },
      stderr: `There is no mail account.\n${advice}`,
    });
    expect((await atTerminal(['list'])).stderr).to.equal(`There is no mail account. ${advice}`);
  });

  it('list takes an account by its address, and an age', async () => {
    const { address } = await seedMailAccount(world.app, token);
    const { code, stderr } = await cli('list', '--account', address, '--since', '2h');
    expect([code, stderr]).to.match(/^0,private-\d+@mail\.invalid is not up to date/);
    const wrong = await cli('list', '--since', 'yesterday');
    expect([wrong.code, wrong.stderr]).to.match(/^2,.*\n {2}--since {2}must be a date or a time, /);
  });

  it('send names the flag of a wrong address', async () => {
    const words = ['--to', 'bob,eve@example.org', '--subject', 'Hi', '--text', 'Hi'];
    const { code, stderr } = await cli('send', ...words);
    expect([code, stderr]).to.equal([
      2,
      'Invalid request: one field is invalid.\n' +
        '  --to  must be a valid email (got "bob")\nHelp: adjutant email send --help\n',
    ]);
  });

  it('accounts delete names the login that stays, and --force', async () => {
    const { address, credentialId, id: accountId } = await seedMailAccount(world.app, admin());
    const body = { accountId, to: ['bob@mail.invalid'], subject: 'Hi', text: 'Hi' };
    await world.client.sentmail.send({ body });
    const refused = await cli('accounts', 'delete', address, '--yes');
    expect(refused.stderr).to.contain('or pass --force to discard the queued e-mails');
    const { code, stderr } = await cli('accounts', 'delete', address, '--force', '--yes');
    const login = `adjutant vault delete ${credentialId.slice(-6)}`;
    expect([code, stderr]).to.equal([
      0,
      `Removed ${address}. Its login stays in the vault. Delete it: ${login}\n`,
    ]);
  });

  it('sent get says in words who received it, who did not and why', async () => {
    const { id: userId } = (await world.app.call('GET', '/api/auth/me', { token })).body;
    const id = await seedSentMail(world.app, { id: userId, token });
    const at = (address: string, status: string, reply: string | null) => ({
      ...{ address, place: 'to', status, reply },
    });
    const recipients = JSON.stringify([
      at('bob@mail.invalid', 'sent', '250 ok'),
      at('eve@mail.invalid', 'refused', '550 no such user'),
      { ...at('dan@mail.invalid', 'bounced', 'mailbox full'), place: 'cc' },
    ]);
    await db().updateTable('mail_sent').set({ recipients }).where('id', '=', id).execute();
    const { stdout, stderr } = await world.cli(['email', 'sent', 'get', id], { terminal: 100 });
    for (const line of [
      'Status: sent: only 1 of 3 recipients received it',
      'To: bob@mail.invalid: sent, the mail server accepted it',
      'To: eve@mail.invalid: refused, did not receive it: 550 no such user',
      'Cc: dan@mail.invalid: bounced, did not receive it: mailbox full',
    ]) {
      expect(`\n${stderr}`).to.contain(`\n${line}\n`);
    }
    expect(stdout).to.equal('  A private text\n');
  });

  it('setup refuses a private server before it asks for the password', async () => {
    const words = ['setup', 'ada@nowhere.invalid', '--imap', '192.168.7.7:993'];
    const { code, stderr } = await atTerminal([...words, '--smtp', 'smtp.mail.invalid'], 'secret');
    expect(code).to.equal(2);
    expect(stderr).to.match(/--imap {2}192\.168\.7\.7 is refused: it is a private/);
    expect(stderr.replace(/\s+/g, ' ')).to.contain('restart the daemon');
    expect(stderr).to.not.contain('Password');
  });

  it('hooks list shows the account and the folder of a hook for e-mails', async () => {
    const { id: accountId } = await seedMailAccount(world.app, token);
    const hook = async (name: string, triggerConfig: object) => {
      const action = { action: 'notify', actionConfig: { notifyMessage: 'Mail' } };
      const body = { name, trigger: 'email', triggerConfig, ...action };
      const made = await world.app.call('POST', '/api/hooks', { token, body });
      expect(made.status, made.text).to.equal(201);
    };
    await hook('bills', { accountId, folder: 'INBOX' });
    await hook('all', {});
    const { stdout } = await world.cli(['hooks', 'list'], { terminal: 120 });
    expect(stdout).to.match(/^NAME +STATE +TRIGGER +ACTION/);
    expect(stdout).to.contain(`email INBOX, account ${accountId.slice(-6)}`);
    expect(stdout).to.match(/all +enabled +email all mailboxes +notify/);
    const data = await world.cli(['hooks', 'list', '--fields', 'name,trigger,path']);
    expect(data.stdout).to.equal('all\temail\t\nbills\temail\t\n');
  });

  describe('drafts send', () => {
    let id = '';
    beforeEach(async () => {
      const { id: accountId } = await seedMailAccount(world.app, admin());
      const body = { accountId, to: ['bob@mail.invalid'], subject: 'Figures', text: FORGED[0] };
      ({ id } = await world.client.maildrafts.create({ body }));
    });
    const distrust = () =>
      db().updateTable('mail_drafts').set({ untrusted: 1 }).where('id', '=', id).execute();
    const isLeft = async (): Promise<boolean> =>
      (await world.client.maildrafts.list()).drafts.some((draft) => draft.id === id);

    it('shows the draft on a terminal and asks', async () => {
      const { code, stderr } = await atTerminal(['drafts', 'send', id, '--quiet'], 'n');
      expect([code, await isLeft()]).to.equal([1, true]);
      const shown = `To: bob@mail.invalid\nSubject: Figures\n\n  ${FORGED[0]}\n\n`;
      expect(stderr).to.startWith(shown);
      expect(stderr).to.contain('Send it to 1 recipient? [y/N]');
      const sent = await atTerminal(['drafts', 'send', id], 'y');
      expect([sent.code, await isLeft()]).to.equal([0, false]);
    });

    it('sends a trusted draft in a pipe', async () => {
      expect((await cli('drafts', 'send', id)).code).to.equal(0);
      expect(await isLeft()).to.be.false();
    });

    it('requires --yes in a pipe for a draft of an untrusted agent', async () => {
      await distrust();
      const { code, stderr } = await cli('drafts', 'send', id);
      expect([code, stderr]).to.equal([
        2,
        'An untrusted agent wrote this draft. Read it carefully before you send it.\n' +
          'Confirmation is required, but there is no terminal. Add --yes.\n',
      ]);
      expect(await isLeft()).to.be.true();
      expect((await cli('drafts', 'send', id, '--yes')).code).to.equal(0);
      expect(await isLeft()).to.be.false();
    });

    it('is not needed to see the trust of a draft', async () => {
      await distrust();
      const { stdout } = await cli('drafts', 'list', '--fields', 'id,trust');
      expect(stdout).to.contain(`${id}\tuntrusted\n`);
    });
  });
});
