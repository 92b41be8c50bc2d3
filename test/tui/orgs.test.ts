import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { teamPage } from '../../tui/screens/team.js';
import { pages } from '../../tui/screens.js';
import { orgsTarget } from '../../tui/state/locations.js';
import { findPaletteMatches } from '../../tui/state/palette.js';
import {
  type FrozenClock,
  frozenClock,
  PASSWORD,
  type Reply,
  startApp,
  type TestApp,
  until,
} from '../harness/app.js';
import { known } from './fixtures.js';
import { type LiveDesk, openLinearDesk, openLiveDesk } from './livedesk.js';

export const lab = Lab.script();
const { describe, it, before, after, afterEach } = lab;

const OLD_MS = 11 * 60_000;

interface Person {
  id: string;
  token: string;
}

describe('organizations on the desk', () => {
  let clock: FrozenClock;
  let app: TestApp;
  let ada: Person;
  let bob: Person;
  let eve: Person;
  const ends: (() => Promise<void>)[] = [];

  before(async () => {
    clock = frozenClock(Date.now());
    app = await startApp({ clock });
    ada = await app.register('ada');
    bob = await app.register('bob');
    eve = await app.register('eve');
  });
  after(() => app.stop());
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });

  const ask = (who: Person, method: string, path: string, body?: unknown): Promise<Reply> =>
    app.call(method, path, { token: who.token, ...(body !== undefined && { body }) });
  const create = async (who: Person, slug: string): Promise<string> => {
    const { body, text } = await ask(who, 'POST', '/api/orgs', { slug, name: `The ${slug}` });
    if (!body.id) throw new Error(text);
    return body.id;
  };
  const approve = (id: string, more: object = {}) =>
    ask(ada, 'PATCH', `/api/admin/orgs/${id}`, { approved: true, password: PASSWORD, ...more });
  const logIn = async (username: string): Promise<string> => {
    const body = { username, password: PASSWORD };
    return (await app.call('POST', '/api/auth/login', { body })).body.token;
  };
  const add = (id: string, username: string, role = 'member') =>
    ask(bob, 'POST', `/api/orgs/${id}/members`, { username, role });
  const roles = async (id: string): Promise<string[]> =>
    (await ask(bob, 'GET', `/api/orgs/${id}/members`)).body.members.map(
      ({ username, role }: { username: string; role: string }) => `${username} ${role}`,
    );
  const becomes = (id: string, expected: string[]) =>
    until(
      () => roles(id),
      (found) => JSON.stringify(found) === JSON.stringify(expected),
    );
  /** The list of organizations. */
  const open = async ({ token }: Person): Promise<LiveDesk> => {
    const desk = await openLiveDesk({ url: app.url, token });
    ends.push(desk.close);
    desk.press(':');
    desk.types('orgs');
    await desk.sees('[Organizations]');
    return desk;
  };
  const choose = async (desk: LiveDesk, slug: string): Promise<void> => {
    desk.press('/');
    desk.types(slug);
    await desk.sees(`> ${slug} `);
  };
  const enter = async (person: Person, slug: string): Promise<LiveDesk> => {
    const desk = await open(person);
    await choose(desk, slug);
    desk.press('enter');
    await desk.sees('[Members]');
    return desk;
  };

  it('are the last tab of the team, also by the palette', () => {
    expect(teamPage.tabs[orgsTarget.tab ?? 0]).to.equal('Organizations');
    for (const typed of ['org', 'orgs', 'organizations']) {
      const [match] = findPaletteMatches(known(), pages.hooks, pages, typed);
      expect(match?.does).to.equal({ goal: orgsTarget });
    }
  });

  it('wait for admins, who approve them after a question, as soon as they are created', async () => {
    const admin = await open(ada);
    await admin.sees('You are in no organization.');
    const desk = await open(bob);
    desk.press('a');
    await desk.sees('Short name and full name');
    desk.types('globex Globex International');
    expect(await desk.sees('> globex ')).to.match(/Globex International +owner +1 +waiting +off/);
    await desk.sees('waiting for an admin of this installation');
    // The notification reloads the list of the admin.
    const waiting = await admin.sees('1 organization, 1 waiting for approval');
    expect(waiting).to.match(/> globex +Globex International +none +1 +waiting +- +-/);
    expect(waiting).to.match(/Owners +bob/);
    expect(waiting).to.not.contain('enter open');
    expect(waiting).to.not.contain('leave');
    admin.press('s');
    await admin.sees('Approve the organization globex?');
    admin.press('enter');
    await admin.sees('Nothing was done');
    const { body } = await ask(bob, 'GET', '/api/orgs');
    expect(body.orgs.map((org: { approved: boolean }) => org.approved)).to.equal([false]);
    admin.press('s', 'y');
    await admin.sees('globex is approved');
    await admin.sees('You are in no organization.');
    desk.press('ctrl-r');
    expect(await desk.sees('approved by an admin')).to.not.contain('s approve');
  });

  it('leave for the command line where the daemon asks for the password', async () => {
    const id = await create(bob, 'initech');
    const admin = await open(ada);
    await choose(admin, 'initech');
    clock.forward(OLD_MS);
    admin.press('s', 'y');
    await until(
      async () => admin.left,
      (left) => left.length > 0,
    );
    expect(admin.left).to.equal(['orgs admin update initech --approved']);
    const { body } = await ask(bob, 'GET', `/api/orgs/${id}`);
    expect(body.approved).to.be.false();
  });

  it("show the daemon's refusal", async () => {
    const desk = await open(eve);
    desk.press('a');
    desk.types('Not-A-Slug');
    await desk.sees('400: ');
    expect(desk.frame()).to.contain('slug');
    await desk.sees('You are in no organization.');
  });

  it('gain, change and lose members', async () => {
    const id = await create(bob, 'umbrella');
    const desk = await enter(bob, 'umbrella');
    expect(await desk.sees('> bob ')).to.contain('umbrella   The umbrella');
    expect(desk.frame()).to.contain('you are owner   waiting for approval');
    // The last owner cannot be removed, and transfers to nobody.
    expect(desk.frame()).to.match(/^a add {2}p demote {2}\[ \] tabs/m);
    desk.press('a');
    await desk.sees('It becomes a member of umbrella at once.');
    desk.types('eve');
    await desk.sees('Added eve as member');
    await choose(desk, 'eve');
    desk.press('s');
    await desk.sees('Change the role of eve in umbrella from member to admin?');
    desk.press('n');
    await desk.sees('Nothing was done');
    expect(await roles(id)).to.equal(['eve member', 'bob owner']);
    desk.press('s', 'y');
    await desk.sees('eve is now admin');
    expect(await roles(id)).to.equal(['eve admin', 'bob owner']);
    desk.press('p', 'y');
    await desk.sees('eve is now member');
    await becomes(id, ['eve member', 'bob owner']);
    desk.press('u');
    await desk.sees('Make eve an owner of umbrella, and yourself an admin?');
    desk.press('esc');
    desk.press('D');
    await desk.sees('Remove eve from umbrella?');
    desk.press('y');
    await desk.sees('eve is removed');
    expect(await roles(id)).to.equal(['bob owner']);
    desk.press('esc', 'esc', 'p', 'y');
    await desk.sees('409: This is the last owner.');
  });

  it('are transferred to another member', async () => {
    const id = await create(bob, 'wayne');
    const token = await logIn('bob');
    await add(id, 'eve');
    const desk = await enter({ ...bob, token }, 'wayne');
    await choose(desk, 'eve');
    desk.press('u', 'y');
    await desk.sees('eve is now an owner of wayne. You are an admin');
    expect(await roles(id)).to.equal(['eve owner', 'bob admin']);
    // An admin changes no owner.
    expect(await desk.sees('you are admin')).to.match(/^a add {2}\[ \] tabs/m);
  });

  it('invite, show the token once, and withdraw', async () => {
    const id = await create(eve, 'stark');
    const desk = await enter(eve, 'stark');
    desk.press(']');
    await desk.sees('No open invites.');
    desk.press('a');
    await desk.sees('Who may join stark?');
    desk.types('anyone');
    const sheet = await desk.sees('shown only once');
    const [, inviteToken = ''] = /join -\n {2}(\S{43})$/m.exec(sheet) ?? [];
    desk.press('enter');
    expect(await desk.sees('> anyone ')).to.not.contain(inviteToken);
    const joined = await ask(bob, 'POST', '/api/orgs/join', { inviteToken });
    expect(joined.body.slug).to.equal('stark');
    desk.press('ctrl-r');
    await desk.sees('No open invites.');
    desk.press('a');
    desk.types('carol@example.org');
    await desk.sees('shown only once');
    desk.press('enter');
    await desk.sees('> carol@example.org ');
    desk.press('D');
    await desk.sees('Withdraw the invite for carol@example.org?');
    desk.press('y');
    await desk.sees('No open invites.');
    expect((await ask(eve, 'GET', `/api/orgs/${id}/invites`)).body.invites).to.equal([]);
  });

  it('show their settings, cost, limits, domains and last changes', async () => {
    const id = await create(eve, 'tyrell');
    await approve(id, { limits: { dailyCostUsd: 5, dailyTokens: 2000 } });
    await ask(eve, 'POST', `/api/orgs/${id}/domains`, { domain: 'tyrell.example' });
    const desk = await enter(eve, 'tyrell');
    desk.press('[');
    const frame = await desk.sees('Last changes');
    expect(frame).to.match(/Cost today +\$0\.00, limit \$5\.00/);
    expect(frame).to.match(/This month +\$0\.00, no limit of its own/);
    expect(frame).to.contain('limit 2,000 tokens a day');
    expect(frame).to.match(/Single sign-on +off\n +Single sign-on is not configured/);
    expect(frame).to.match(/Provisioning +off\n/);
    expect(frame).to.match(/tyrell\.example {2}not verified: create the TXT record _adjutant\.tyr/);
    expect(frame).to.match(/Last changes .* eve {2}sso\.domain-add/);
  });

  it('offer members only what they may do, and end on their desk when they are removed', async () => {
    const id = await create(bob, 'hooli');
    await add(id, 'eve');
    const desk = await enter(eve, 'hooli');
    const frame = await desk.sees('> eve ');
    expect(frame).to.contain('[Members] Settings');
    expect(frame).to.match(/^\[ \] tabs/m);
    desk.press(']');
    await desk.sees('Cost today');
    expect(desk.frame()).to.not.contain('Last changes');
    desk.press(']');
    await desk.sees('[Members]');
    await ask(bob, 'DELETE', `/api/orgs/${id}/members/${eve.id}`);
    // The notification reloads the list.
    await desk.sees('You are not a member of this organization');
    expect(desk.frame()).to.not.contain('> eve ');
  });

  it('appear when somebody else adds the user, and are left', async () => {
    const id = await create(bob, 'aperture');
    const desk = await open(eve);
    await desk.sees('[Organizations]');
    await add(id, 'eve');
    await desk.sees('aperture');
    await choose(desk, 'aperture');
    expect(desk.frame()).to.not.contain('D delete');
    desk.press('x');
    await desk.sees('Leave aperture?');
    desk.press('y');
    await desk.sees('You left aperture');
    expect(await roles(id)).to.equal(['bob owner']);
  });

  it('are deleted by their name, and ask on the command line what to do with resources', async () => {
    const zoe = await app.register('zoe');
    const id = await create(zoe, 'cyberdyne');
    await approve(id);
    const { body: credential } = await ask(zoe, 'POST', '/api/vault', {
      ...{ name: 'pat', type: 'api_key', value: 'x', orgId: id },
    });
    const desk = await open(zoe);
    await choose(desk, 'cyberdyne');
    desk.press('D');
    await desk.sees('There is no undo.');
    desk.types('cyber');
    expect(desk.frame()).to.contain('There is no undo.');
    desk.press('ctrl-u');
    desk.types('cyberdyne');
    await until(
      async () => desk.left,
      (left) => left.length > 0,
    );
    expect(desk.left).to.equal(['orgs delete cyberdyne --yes']);
    await ask(zoe, 'DELETE', `/api/vault/${credential.id}`);
    desk.press('D');
    desk.types('cyberdyne');
    await desk.sees('cyberdyne is deleted');
    await desk.sees('You are in no organization.');
  });

  it('are read and changed line by line', async () => {
    const id = await create(eve, 'soylent');
    const admin = openLinearDesk({ url: app.url, token: ada.token });
    ends.push(admin.close);
    await admin.hears('quit to leave.');
    const list = await admin.answers('orgs', 'Verbs: ');
    expect(list).to.contain('Tabs: users, audit, sessions, tokens, organizations.');
    expect(list).to.match(
      /\d\. soylent, full name The soylent, your role none, members 1, approval waiting/,
    );
    expect(await admin.answers('approve soylent\nn', 'Nothing was done.')).to.contain(
      'Approve the organization soylent?',
    );
    // Without a terminal, the command that asks for the password is named.
    await admin.answers('approve soylent\ny', 'adjutant orgs admin update soylent --approved');
    const owner = openLinearDesk({ url: app.url, token: eve.token });
    ends.push(owner.close);
    await owner.hears('quit to leave.');
    const one = await owner.answers('org soylent', 'Verbs: create, edit, leave, delete, open.');
    expect(one).to.contain('Tabs: sessions, tokens, organizations.');
    expect(one).to.contain('approval: waiting');
    const opened = await owner.answers('open', 'Verbs: add');
    expect(opened).to.contain('Organization: soylent, The soylent.');
    expect(opened).to.contain('1. eve, role owner, joined ');
    await owner.answers('add\nbob\n', 'Added bob as member');
    await owner.answers('promote bob\ny', 'bob is now admin');
    await becomes(id, ['bob admin', 'eve owner']);
    await owner.answers('invites', 'No open invites.');
    const invited = await owner.answers('invite\nanyone\n', 'The value stays above');
    expect(invited).to.match(/^\S{43}$/m);
    expect(await owner.answers('settings', 'ID ')).to.match(/Cost today +\$0\.00/);
    await owner.answers('org soylent\nleave\ny', '409: This is the last owner.');
  });
});
