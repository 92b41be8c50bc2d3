import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createClient, type ModelView } from '../../src/client/index.js';
import { modelActs, modelsPage } from '../../tui/screens/models.js';
import { loaders } from '../../tui/state/loaders.js';
import type { CliToolItem, RouteItem } from '../../tui/state/rows.js';
import type { StateAction } from '../../tui/state/state.js';
import { known, NOW, shown } from './fixtures.js';

export const lab = Lab.script();
const { describe, it } = lab;

const gpt: ModelView = {
  id: 'model_01jcx2kq7m8f3k2a9v5ztw4e6r',
  orgId: null,
  name: 'gpt',
  provider: 'openai',
  modelId: 'gpt-4.1',
  baseUrl: null,
  credentialId: null,
  apiKeySet: true,
  contextWindow: 1_000_000,
  maxOutputTokens: null,
  supports: { tools: true, vision: true, streaming: true, embeddings: false, transcription: false },
  price: null,
  embedding: null,
  topics: ['triage'],
  fallbacks: [],
  enabled: true,
  isDefault: true,
  source: 'registry',
  health: {
    status: 'up',
    latencyMs: 420,
    checkedAt: null,
    retryAt: null,
    lastError: null,
    circuit: 'closed',
  },
};
const route: RouteItem = { id: 'default', topic: 'default', models: ['gpt', 'digest'] };
const tool = (over: Partial<CliToolItem> & { name: string }): CliToolItem => ({
  id: over.name,
  path: `/usr/bin/${over.name}`,
  version: '2.1.0',
  isRunnable: true,
  isLoggedIn: true,
  quota: null,
  ...over,
});
const until = new Date(NOW + 7_200_000).toISOString();

const ask = { do: 'ask' as const, of: null, generation: 1, at: NOW };
const load = <T>(rows: T[]) => ({
  do: 'load' as const,
  generation: 1,
  rows,
  nextCursor: null,
  at: NOW,
});
const open = (tools: CliToolItem[]) => {
  const loaded: StateAction[] = [
    { type: 'list', name: 'models', change: ask },
    { type: 'list', name: 'models', change: load([gpt]) },
    { type: 'list', name: 'routes', change: ask },
    { type: 'list', name: 'routes', change: load([route]) },
    { type: 'list', name: 'clitools', change: ask },
    { type: 'list', name: 'clitools', change: load(tools) },
    { type: 'ui.root', root: 'models' },
  ];
  return known(loaded);
};

describe('models', () => {
  it('stand above their routes and the command-line tools', () => {
    const quota = { used: 38, limit: 100, resetsAt: null, exhausted: false };
    const state = open([
      tool({ name: 'claude', quota }),
      tool({ name: 'codex', isLoggedIn: false }),
      tool({ name: 'gemini', path: null, version: null, isRunnable: false, isLoggedIn: false }),
      tool({ name: 'opencode', path: null, version: null, isRunnable: false, isLoggedIn: false }),
    ]);
    expect(shown(modelsPage.view, state, 80, 19).slice(-4)).to.equal([
      'Routing   default  gpt → digest',
      'CLI       claude 2.1.0 logged in, 38 of 100',
      '          codex 2.1.0 not logged in: adjutant models cli login codex',
      '          not installed: gemini, opencode',
    ]);
  });

  it('say of a tool what it told of its quota, and what is amiss', () => {
    const part = { used: 0.384, limit: 1, resetsAt: until, exhausted: false };
    const over = { used: null, limit: null, resetsAt: until, exhausted: true };
    const lines = shown(
      modelsPage.view,
      open([
        tool({ name: 'claude', quota: part }),
        tool({ name: 'codex', quota: over }),
        tool({ name: 'gemini', version: null, isRunnable: false }),
      ]),
      80,
      19,
    );
    const timeless = lines.slice(-3).map((line) => line.replace(/\d\d:\d\d:\d\d/, 'TIME'));
    expect(timeless).to.equal([
      'CLI       claude 2.1.0 logged in, 38 % until TIME',
      '          codex 2.1.0 logged in, used up until TIME',
      '          gemini does not run confined',
    ]);
  });

  it('are tested, and a failure is told as one', async () => {
    const said = (reply: object) => {
      const fetch = async () =>
        new Response(JSON.stringify(reply), { headers: { 'content-type': 'application/json' } });
      return modelActs(gpt).test?.call(createClient({ url: 'http://127.0.0.1:1', fetch }), '');
    };
    expect(await said({ ok: true, latencyMs: 12 })).to.equal('gpt answered in 12 ms');
    expect(await said({ ok: false, latencyMs: 12, error: '401' })).to.equal({
      message: 'gpt does not answer: 401',
      tone: 'danger',
    });
  });

  it('of an organization show it, and cannot become the default', () => {
    const large: ModelView = { ...gpt, name: 'acme/large', orgId: 'org_01', isDefault: false };
    const state = known([
      { type: 'session.known', orgs: { org_01: 'acme' } },
      { type: 'list', name: 'models', change: ask },
      { type: 'list', name: 'models', change: load([large]) },
      { type: 'ui.root', root: 'models' },
    ]);
    const lines = shown(modelsPage.view, state, 100, 19).join('\n');
    expect(lines).to.match(/^ *NAME .* ORG/m);
    expect(lines).to.match(/^Org +acme$/m);
    expect(Object.keys(modelActs({ ...gpt, isDefault: false }))).to.equal(['test', 'use']);
    expect(Object.keys(modelActs(large))).to.equal(['test']);
  });

  it('ask for tools and what they told together', async () => {
    const replies: Record<string, object> = {
      status: {
        tools: [{ name: 'claude', path: '/c', version: '2', available: true, loggedIn: true }],
      },
      quota: {
        quotas: [
          { name: 'claude', used: 1, limit: 2, resetsAt: null, exhausted: null, source: null },
        ],
      },
    };
    const fetch: typeof globalThis.fetch = async (url) =>
      new Response(JSON.stringify(replies[String(url).split('/').at(-1) ?? '']), {
        headers: { 'content-type': 'application/json' },
      });
    const client = createClient({ url: 'http://127.0.0.1:1', fetch });
    const { rows } = await loaders.clitools.page(client, { of: null });
    expect(rows.map(({ id, isRunnable, quota }) => [id, isRunnable, quota?.used])).to.equal([
      ['claude', true, 1],
    ]);
  });
});
