import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { openForSuite } from '../harness/suite.js';
import { type Editor, openEditor } from './editor.js';
import type { Ended, Surroundings } from './harness.js';
import { openWorld } from './world.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const TERMINAL = { terminal: 100 };

describe('editing', () => {
  const world = openForSuite(lab, openWorld);
  let editor: Editor;
  beforeEach(async () => {
    await world.arrive();
    editor = await openEditor();
    await world.client.hooks.create({
      body: {
        name: 'issues',
        trigger: 'webhook',
        triggerConfig: { webhookPath: 'issues', webhookSecret: 'never in a file' },
        action: 'notify',
        actionConfig: { notifyMessage: 'Got it' },
        description: 'Issues of ours',
      },
    });
  });
  afterEach(() => editor.close());

  const update = (surroundings: Surroundings = TERMINAL, ...words: string[]): Promise<Ended> =>
    world.cli(['hooks', 'update', 'issues', ...words], surroundings);
  const theHook = async () => {
    const [hook] = (await world.client.hooks.list()).hooks;
    if (!hook) throw new Error('The hook is gone');
    return hook;
  };

  it('opens the fields that can be changed, in a file of one’s own that is gone afterwards', async () => {
    await editor.script('s/"cooldownMs": 0/"cooldownMs": 60000/');
    const { code, stderr } = await update();
    expect([code, stderr]).to.equal([0, 'Updated issues.\n']);
    expect((await theHook()).cooldownMs).to.equal(60_000);
    const [seen = ''] = await editor.seen();
    const fields = JSON.parse(seen.replace(/^\/\/.*\n/gm, ''));
    expect(fields).to.equal({
      name: 'issues',
      description: 'Issues of ours',
      trigger: 'webhook',
      action: 'notify',
      actionConfig: { notifyMessage: 'Got it' },
      enabled: true,
      conditions: [],
      concurrency: null,
      cooldownMs: 0,
      maxExecutions: null,
      limits: null,
      triggerConfig: { webhookPath: 'issues' },
    });
    expect(seen).to.contain('// Other fields:\n//   actionConfig: agentPrompt, agentTopic, ');
    expect(seen).to.not.contain('webhookSecret').and.to.not.contain('never in a file');
    const { path, mode } = await editor.last();
    expect([mode, existsSync(dirname(path))]).to.equal(['600', false]);
  });

  it('keeps the secret when something beside it was changed', async () => {
    await editor.script('s/"webhookPath": "issues"/"webhookPath": "moved"/');
    expect((await update()).code).to.equal(0);
    expect((await theHook()).triggerConfig).to.equal({
      webhookPath: 'moved',
      webhookSecretSet: true,
    });
  });

  it('sends nothing where nothing was changed, or nothing was left', async () => {
    const before = await theHook();
    await editor.script('');
    expect((await update()).stderr).to.equal('Nothing was changed.\n');
    await editor.script('d');
    expect((await update()).stderr).to.equal('Nothing was changed.\n');
    expect(await theHook()).to.equal(before);
  });

  it('says what is wrong by field, and lets it be put right in the same text', async () => {
    await editor.script(
      's/"cooldownMs": 0/"cooldownMs": "soon"/;s/"enabled": true/"enabled": false/',
      's/"cooldownMs": "soon"/"cooldownMs": 5/',
    );
    const { code, stderr } = await update({ terminal: 100, answers: ['y'] });
    expect([code, stderr]).to.match(
      /Invalid request: one field is invalid\.\n {2}cooldownMs {2}must be/,
    );
    const [, again = ''] = await editor.seen();
    expect(again).to.match(
      /^\/\/ Invalid request: one field is invalid\.\n\/\/ {3}cooldownMs {2}must be/,
    );
    expect(await theHook()).to.include({ cooldownMs: 5, enabled: false });
  });

  it('asks again where the daemon refuses it', async () => {
    await world.client.experts.create({
      body: { name: 'cook', description: 'Cooks', instructions: 'Cook.' },
    });
    await world.client.experts.create({
      body: { name: 'baker', description: 'Bakes', instructions: 'Bake.' },
    });
    await editor.script('s/"baker"/"cook"/', 's/"cook"/"confectioner"/');
    const surroundings = { terminal: 100, answers: ['y'] };
    const { code, stderr } = await world.cli(['experts', 'update', 'baker'], surroundings);
    expect([code, stderr]).to.match(/An expert named cook already exists/);
    expect(stderr).to.contain('Updated confectioner.');
  });

  it('changes nothing when it is given up', async () => {
    const before = await theHook();
    await editor.script('s/{/nonsense/');
    const { code, stderr } = await update({ terminal: 100, answers: ['n'] });
    expect(code).to.equal(130);
    expect(stderr)
      .to.contain('The edited text is not valid JSON')
      .and.to.contain('Nothing was changed.');
    expect(await theHook()).to.equal(before);
  });

  it('refuses a secret, and what cannot be taken away; null takes back what can', async () => {
    await editor.script(
      's/"webhookPath"/"webhookSecret": "typed", "webhookPath"/;/"cooldownMs"/d',
      's/"webhookSecret": "typed", //;s/"enabled": true/"enabled": true, "cooldownMs": 0/;/"description"/d',
    );
    const { code, stderr } = await update({ terminal: 100, answers: ['y'] });
    expect([code, stderr]).to.match(
      /triggerConfig.webhookSecret {2}is a secret and cannot be changed/,
    );
    expect(stderr).to.match(/cooldownMs {2,}cannot be removed/);
    expect(await theHook()).to.include({ description: null, cooldownMs: 0 });
  });

  it('names EDITOR where there is none, and says how a program failed', async () => {
    delete process.env.EDITOR;
    const without = await update();
    expect(without.code).to.equal(1);
    expect(without.stderr).to.contain('No editor is set. Set EDITOR, for example');
    process.env.EDITOR = 'false';
    const failed = await update();
    expect(failed.stderr).to.contain('false exited with 1: the edited text was discarded.');
    process.env.EDITOR = 'rm';
    expect((await update()).stderr).to.contain('rm left no file');
  });

  it('opens none in a pipe, nor beside other flags', async () => {
    const piped = await update({}, '--edit');
    expect([piped.code, piped.stderr]).to.match(/--edit requires a terminal/);
    const both = await update(TERMINAL, '--edit', '--cooldown-ms', '5');
    expect([both.code, both.stderr]).to.match(/Remove the other flags/);
    expect((await update({})).code).to.equal(2);
    expect(await editor.seen()).to.equal([]);
  });

  it('changes each resource that can be changed', async () => {
    world.admin();
    const { client } = world;
    await client.models.create({
      body: { name: 'local', provider: 'ollama', modelId: 'qwen', apiKey: 'never in a file' },
    });
    await client.vault.create({ body: { name: 'pat', value: 'never in a file' } });
    await client.webhooks.create({
      body: { name: 'app', url: 'https://app.example.org/in', events: ['*'] },
    });
    const changed = async (words: string[], turn: string): Promise<string> => {
      await editor.script(turn);
      const { code, stderr } = await world.cli(words, TERMINAL);
      const [seen = ''] = await editor.seen();
      expect(seen).to.not.contain('never in a file');
      return `${code} ${stderr.trim()}`;
    };
    const outcomes = [
      await changed(['models', 'update', 'local'], 's/"topics": \\[\\]/"topics": ["notes"]/'),
      await changed(
        ['vault', 'update', 'pat'],
        's/"allowedHosts": \\[\\]/"allowedHosts": ["a.example.org"]/',
      ),
      await changed(['webhooks', 'update', 'app'], 's/"app"/"mine"/'),
      await changed(['users', 'update', 'ada'], 's/"shell": [a-z]*/"shell": true/'),
    ];
    expect(outcomes).to.equal([
      '0 Updated local.',
      '0 Updated pat.',
      '0 Updated mine.',
      '0 Updated: ada, admin.',
    ]);
    expect((await client.models.get({ name: 'local' })).topics).to.equal(['notes']);
  });
});

describe('what a command needs', () => {
  const world = openForSuite(lab, openWorld);

  it('is asked for on a terminal, secrets hidden', async () => {
    const answers = ['pat', 'the value'];
    const { code, stderr } = await world.cli(['vault', 'add'], { terminal: 100, answers });
    expect([code, stderr]).to.match(/Stored pat\./);
    expect(stderr).to.not.contain('the value');
  });

  it('is named where nobody is there to answer', async () => {
    const { code, stderr } = await world.cli(['webhooks', 'create']);
    expect([code, stderr]).to.match(/name +is missing/);
  });
});
