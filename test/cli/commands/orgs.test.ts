import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { linkAccount } from '../../harness/scim.js';
import { openWorld, type World } from '../world.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('orgs', () => {
  let world: World;
  before(async () => {
    world = await openWorld();
    await world.app.register('bob');
  });
  after(() => world.stop());

  const orgs = (...words: string[]) => world.cli(['orgs', ...words]);
  const shown = (...words: string[]) => world.cli(['orgs', ...words], { terminal: 100 });
  const lines = (text: string) => text.trimEnd().split('\n');

  it('creates an organization and shows it', async () => {
    const empty = await shown('list');
    expect(empty.stderr).to.contain('adjutant orgs create <slug> --name <name>');
    const made = await shown('create', 'acme', '--name', 'Acme Ltd');
    expect([made.code, made.stderr]).to.equal([
      0,
      'Created acme. You are its owner.\nBefore it can own resources, an admin must approve it: adjutant orgs admin update acme --approved\n',
    ]);
    const listed = await orgs('list', '--fields', 'name,title,role,members');
    expect(listed.stdout).to.equal('acme\tAcme Ltd\towner\t1\n');
    await orgs('update', 'acme', '--name', 'Acme International');
    expect((await orgs('get', 'acme', '--fields', 'title')).stdout).to.equal(
      'Acme International\n',
    );
    const taken = await orgs('create', 'acme', '--name', 'Another');
    expect([taken.code, lines(taken.stderr)[0]]).to.equal([
      1,
      'An organization with the slug acme already exists. Choose another slug.',
    ]);
  });

  it('adds, changes and removes a member by the username', async () => {
    const added = await shown('members', 'add', 'acme', 'bob');
    expect(added.stderr).to.contain('Added bob as member.');
    const changed = await shown('members', 'update', 'acme', 'bob', '--role', 'admin');
    expect(changed.stderr).to.contain('bob is now admin.');
    const listed = await orgs('members', 'list', 'acme', '--fields', 'name,role');
    expect(lines(listed.stdout)[0]).to.equal('bob\tadmin');
    expect((await orgs('members', 'remove', 'acme', 'bob')).code).to.equal(2);
    expect((await orgs('members', 'remove', 'acme', 'bob', '--yes')).stderr).to.equal(
      'Removed bob.\n',
    );
    const last = await orgs('leave', 'acme', '--yes');
    expect([last.code, lines(last.stderr)[0]]).to.equal([
      1,
      'This is the last owner. Make another member an owner first.',
    ]);
  });

  it('prints an invite alone, and lists and deletes it', async () => {
    const made = await orgs('invites', 'create', 'acme', '--email', 'carol@example.org');
    expect(made.stdout).to.match(/^[\w-]{43}\n$/);
    const listed = await orgs('invites', 'list', 'acme', '--fields', 'email,role');
    expect(listed.stdout).to.equal('carol@example.org\tmember\n');
    const gone = await orgs('invites', 'delete', 'acme', 'carol@example.org', '--yes');
    expect(gone.code).to.equal(0);
    expect((await shown('invites', 'list', 'acme')).stderr).to.equal('No open invites.\n');
    const wrong = await world.cli(['orgs', 'join', '-'], { stdin: 'nonsense' });
    expect([wrong.code, wrong.stderr]).to.match(/The invite is wrong, already used/);
  });

  it('says what single sign-on and provisioning wait for', async () => {
    const refused = await orgs('scim', 'enable', 'acme');
    expect([refused.code, refused.stderr]).to.match(
      /The organization is not approved\. Ask an admin of the installation to run: adjutant orgs admin update <organization> --approved/,
    );
    const approved = await shown('admin', 'update', 'acme', '--approved');
    expect(approved.stderr).to.contain('Updated: acme, approved.');
    expect((await shown('scim', 'enable', 'acme')).stderr).to.equal(
      'User provisioning is enabled.\n',
    );
    expect((await orgs('scim', 'enable', 'acme')).stdout).to.equal('true\tfalse\t\n');
    expect((await orgs('scim', 'token', 'acme')).stdout).to.match(/^scim_\w{26}_[\w-]{43}\n$/);
    expect((await shown('scim', 'log', 'acme')).stderr).to.equal('No requests.\n');
    const test = await orgs('sso', 'test', 'acme');
    expect(lines(test.stdout).slice(0, 2)).to.equal([
      'Single sign-on is not ready.',
      '- Single sign-on is not configured',
    ]);
    const record = await orgs('domains', 'add', 'acme', 'acme.example', '--fields', 'record');
    expect(record.stdout).to.equal('_adjutant.acme.example\n');
    expect((await orgs('domains', 'list', 'acme', '--fields', 'domain')).stdout).to.equal(
      'acme.example\n',
    );
  });

  it('unlinks the own account', async () => {
    const { db } = world.app.app.store;
    const own = await db.selectFrom('org_members').selectAll().executeTakeFirstOrThrow();
    await linkAccount(world.app, { orgId: own.org_id, userId: own.user_id, name: 'ada' });
    expect((await orgs('sso', 'unlink', 'acme')).code).to.equal(2);
    const unlinked = await orgs('sso', 'unlink', 'acme', '--yes');
    expect([unlinked.code, unlinked.stderr]).to.equal([0, 'Unlinked.\n']);
    const again = await orgs('sso', 'unlink', 'acme', '--yes');
    expect([again.code, again.stderr]).to.match(/Your account is not linked/);
    await orgs('domains', 'delete', 'acme', 'acme.example', '--yes');
  });

  it('shows the log of the organization, and deletes it', async () => {
    const log = await orgs('audit', 'acme', '--fields', 'who,action', '--limit', '1');
    expect(log.stdout).to.match(/\tsso\.domain-delete\n$/);
    expect((await orgs('delete', 'acme', '--yes')).stderr).to.equal('Deleted acme.\n');
    expect((await orgs('get', 'acme')).code).to.equal(1);
  });
});
