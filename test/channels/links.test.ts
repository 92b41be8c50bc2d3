import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { LinkRefused } from '../../src/channels/links.js';
import type { ChannelSender } from '../../src/channels/sender.js';
import { type FrozenClock, frozenClock, startApp, type TestApp } from '../harness/app.js';
import { linkChannel } from '../harness/channel.js';
import { inside } from '../harness/inside.js';

export const lab = Lab.script();
const { describe, it, before, after, beforeEach } = lab;

const WRONG = 'AAAAAA';

describe('links between senders and users', () => {
  let test: TestApp;
  let clock: FrozenClock;
  let ada: string;
  let bob: string;
  let count = 0;

  before(async () => {
    clock = frozenClock();
    test = await startApp({ clock });
    ada = (await test.register('ada')).id;
    bob = (await test.register('bob')).id;
  });
  after(() => test.stop());
  // Another minute: tries are counted anew.
  beforeEach(() => clock.forward(60_000));

  const links = () => inside(test.app).links;
  const someone = (more: Partial<ChannelSender> = {}): ChannelSender => ({
    kind: 'telegram',
    id: String(++count),
    name: 'Somebody',
    ...more,
  });
  const reasonOf = async (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'done',
      (error) => (error instanceof LinkRefused ? error.reason : String(error)),
    );
  const kept = () => test.app.store.db.selectFrom('link_codes').selectAll().execute();

  describe('a code that a sender made', () => {
    it('has six characters that nobody mistakes for others, for five minutes', async () => {
      const { code, expiresAt } = await links().makeCode(someone());
      expect(code).to.match(/^[A-HJ-NP-Z2-9]{6}$/);
      expect(Date.parse(expiresAt) - clock.now()).to.equal(5 * 60_000);
    });

    it('shows who made it, and links that sender to the user who redeems it', async () => {
      const sender = someone({ name: ' Eve\u202e\nof "Ops" \ud800' });
      const { code, expiresAt } = await links().makeCode(sender);
      expect(await links().senderOf('user_1', code)).to.equal({
        kind: 'telegram',
        id: sender.id,
        name: 'Eveof "Ops"',
        expiresAt,
      });
      expect(await links().userOf(sender)).to.be.null();
      const linked: object = await links().redeem(ada, ` ${code.toLowerCase()} `);
      const { id, ...row }: Record<string, unknown> = { ...linked };
      const at = new Date(clock.now()).toISOString();
      expect(String(id)).to.startWith('channel_');
      expect(row).to.equal({
        user_id: ada,
        kind: 'telegram',
        sender_id: sender.id,
        sender_name: 'Eveof "Ops"',
        other_id: null,
        verified_at: at,
        created_at: at,
      });
      expect(await links().userOf(sender)).to.equal(ada);
      expect(await links().userOf({ ...sender, kind: 'whatsapp' })).to.be.null();
    });

    it('serves once', async () => {
      const { code } = await links().makeCode(someone());
      await links().redeem(ada, code);
      expect(await reasonOf(links().redeem(ada, code))).to.equal('wrong_code');
      expect(await reasonOf(links().senderOf('user_1', code))).to.equal('wrong_code');
    });

    it('has one winner where two users redeem it at once', async () => {
      const sender = someone();
      const { code } = await links().makeCode(sender);
      const both = [links().redeem(ada, code), links().redeem(bob, code)];
      const outcomes = await Promise.all(both.map(reasonOf));
      expect(outcomes.sort()).to.equal(['done', 'wrong_code']);
      expect([ada, bob]).to.include((await links().userOf(sender)) ?? '');
    });

    it('is over after five minutes', async () => {
      const { code } = await links().makeCode(someone());
      clock.forward(5 * 60_000);
      expect(await reasonOf(links().redeem(ada, code))).to.equal('wrong_code');
    });

    it('ends with the next one of the same sender', async () => {
      const sender = someone();
      const first = await links().makeCode(sender);
      const second = await links().makeCode(sender);
      expect(await reasonOf(links().redeem(ada, first.code))).to.equal('wrong_code');
      expect(await reasonOf(links().redeem(ada, second.code))).to.equal('done');
    });

    it('is one where the sender asks for two at once', async () => {
      const sender = someone();
      const both = await Promise.all([links().makeCode(sender), links().makeCode(sender)]);
      const outcomes = await Promise.all(
        both.map(({ code }) => reasonOf(links().senderOf('user_1', code))),
      );
      expect(outcomes.sort()).to.equal(['done', 'wrong_code']);
    });

    it('is not redeemed from a channel, by its maker or another', async () => {
      const sender = someone();
      const { code } = await links().makeCode(sender);
      expect(await reasonOf(links().redeemFrom(sender, code))).to.equal('wrong_code');
      expect(await reasonOf(links().redeemFrom(someone(), code))).to.equal('wrong_code');
    });

    it('is not given to a sender who is linked', async () => {
      const sender = someone();
      await linkChannel(test, ada, sender);
      expect(await reasonOf(links().makeCode(sender))).to.equal('already_linked');
    });

    it('is kept as a digest that tells nothing', async () => {
      const { code } = await links().makeCode(someone());
      const rows = JSON.stringify(await kept());
      expect(rows).to.not.include(code);
      expect(rows).to.match(/"code_digest":"[0-9a-f]{64}"/);
    });

    it('outlives a restart, and is forgotten when it is over', async () => {
      const sender = someone();
      const { code } = await links().makeCode(sender);
      await test.restart();
      expect((await links().senderOf('user_1', code)).id).to.equal(sender.id);
      clock.forward(5 * 60_000);
      await links().makeCode(someone());
      expect((await kept()).length).to.equal(1);
    });
  });

  describe('a code that a user made', () => {
    it('links the sender that brings it', async () => {
      const sender = someone();
      const { code } = await links().codeFor(bob);
      const row = await links().redeemFrom(sender, code.toLowerCase());
      expect([row.user_id, row.sender_id]).to.equal([bob, sender.id]);
      expect(await links().userOf(sender)).to.equal(bob);
    });

    it('has one winner where two senders bring it at once', async () => {
      const senders = [someone(), someone()];
      const { code } = await links().codeFor(bob);
      const outcomes = senders.map((sender) => reasonOf(links().redeemFrom(sender, code)));
      expect((await Promise.all(outcomes)).sort()).to.equal(['done', 'wrong_code']);
      const users = await Promise.all(senders.map((sender) => links().userOf(sender)));
      expect(users.filter((user) => user === bob).length).to.equal(1);
    });

    it('is not redeemed by a user, and says nothing of its maker', async () => {
      const { code } = await links().codeFor(bob);
      expect(await reasonOf(links().senderOf('user_1', code))).to.equal('wrong_code');
      expect(await reasonOf(links().redeem(ada, code))).to.equal('wrong_code');
    });

    it('does not take a sender from another account', async () => {
      const sender = someone();
      await linkChannel(test, ada, sender);
      const { code } = await links().codeFor(bob);
      expect(await reasonOf(links().redeemFrom(sender, code))).to.equal('already_linked');
      expect(await links().userOf(sender)).to.equal(ada);
    });

    it('links a sender once, whichever way round comes first', async () => {
      const sender = someone();
      const own = await links().makeCode(sender);
      const { code } = await links().codeFor(bob);
      const both = [links().redeem(ada, own.code), links().redeemFrom(sender, code)];
      const outcomes = await Promise.all(both.map(reasonOf));
      expect(outcomes.filter((outcome) => outcome === 'done').length).to.equal(1);
      const rows = await test.app.store.db
        .selectFrom('channels')
        .select('user_id')
        .where('sender_id', '=', sender.id)
        .execute();
      expect(rows.length).to.equal(1);
    });

    it('leaves the sender no code of its own that works later', async () => {
      const sender = someone();
      const own = await links().makeCode(sender);
      await linkChannel(test, ada, sender);
      await test.app.store.db.deleteFrom('channels').where('sender_id', '=', sender.id).execute();
      expect(await reasonOf(links().redeem(bob, own.code))).to.equal('wrong_code');
    });
  });

  describe('guessing', () => {
    it('is five tries a minute for a sender, right codes included', async () => {
      const sender = someone();
      for (let n = 0; n < 5; n++) {
        expect(await reasonOf(links().redeemFrom(sender, WRONG))).to.equal('wrong_code');
      }
      const { code } = await links().codeFor(ada);
      expect(await reasonOf(links().redeemFrom(sender, code))).to.equal('too_many_tries');
      expect(await reasonOf(links().makeCode(sender))).to.equal('too_many_tries');
      expect(await reasonOf(links().redeemFrom(someone(), code))).to.equal('done');
    });

    it('is sixty tries a minute for all senders of a kind', async () => {
      const flood = Array.from({ length: 60 }, () => someone({ kind: 'email' }));
      for (const sender of flood) {
        expect(await reasonOf(links().redeemFrom(sender, WRONG))).to.equal('wrong_code');
      }
      const late = someone({ kind: 'email' });
      expect(await reasonOf(links().redeemFrom(late, WRONG))).to.equal('too_many_tries');
      expect(await reasonOf(linkChannel(test, ada, someone()))).to.equal('done');
      expect(await reasonOf(links().makeCode(late))).to.equal('done');
    });

    it('gets nothing for what is no code', async () => {
      const typed = [
        '',
        ' ',
        'AAAAA',
        'AAAAAAA',
        'AAAAA0',
        'AAAAAI',
        "' OR 1=1",
        '\u0000'.repeat(6),
      ];
      for (const each of typed) {
        expect(await reasonOf(links().redeemFrom(someone(), each))).to.equal('wrong_code');
        expect(await reasonOf(links().redeem(ada, each))).to.equal('wrong_code');
      }
    });
  });

  describe('a sender', () => {
    it('speaks for nobody while the account is disabled or the channel is not verified', async () => {
      const sender = someone();
      const { id } = await linkChannel(test, bob, sender);
      const { db } = test.app.store;
      const disabledAt = (at: string | null) =>
        db.updateTable('users').set({ disabled_at: at }).where('id', '=', bob).execute();
      await disabledAt('2026-03-01T12:00:00.000Z');
      expect(await links().userOf(sender)).to.be.null();
      await disabledAt(null);
      expect(await links().userOf(sender)).to.equal(bob);
      await db.updateTable('channels').set({ verified_at: null }).where('id', '=', id).execute();
      expect(await links().userOf(sender)).to.be.null();
    });
  });
});
