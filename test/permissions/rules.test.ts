import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { object } from '../../src/kernel/contract/schema.js';
import {
  type CallerTrust,
  denialReason,
  type EffectivePermissions,
  getToolLevel,
  judgeToolCall,
  OWNER,
} from '../../src/permissions/rules.js';
import { defineTool, type Tool } from '../../src/tools/tool.js';

export const lab = Lab.script();
const { describe, it } = lab;

const input = object('RulesTestInput', {});
const tool = (skillId: string, name: string, traits: object = {}): Tool =>
  defineTool({
    skillId,
    name,
    description: '',
    input,
    ...{ sideEffects: false, once: false, sendsOut: false, outside: false },
    run: async () => null,
    ...traits,
  });

const time = tool('time', 'now');
const read = tool('web', 'read', { sendsOut: true });
const http = tool('http', 'request', {
  ...{ sendsOut: true, sideEffects: true },
  isSafe: ({ method }: { method: string }) => method === 'GET',
});
const shell = tool('shell', 'run', { sideEffects: true, needs: 'shell' });
const broken = tool('broken', 'run', { unavailable: 'It is broken' });

const permissions = (
  ...overrides: [string, string, 'allow' | 'ask' | 'deny'][]
): EffectivePermissions => ({
  overrides: overrides.map(([skill_id, action, level]) => ({ skill_id, action, level })),
  may: () => true,
});
const nothing = permissions();
const untrusted = (...granted: string[]): CallerTrust => ({
  isUntrusted: true,
  granted: new Set(granted),
});
const level = (of: Tool, on: EffectivePermissions, trust: CallerTrust, args = {}) =>
  judgeToolCall(of, args, { permissions: on, trust }).level;

describe('judge', () => {
  it('lets the trusted do what has no effect, and asks for the rest', () => {
    expect(level(time, nothing, OWNER)).to.equal('allow');
    expect(level(read, nothing, OWNER)).to.equal('allow');
    expect(level(http, nothing, OWNER, { method: 'GET' })).to.equal('allow');
    expect(level(http, nothing, OWNER, { method: 'POST' })).to.equal('ask');
    expect(level(shell, nothing, OWNER)).to.equal('ask');
  });

  it('asks where one who is untrusted names a credential, whatever was granted', () => {
    const allowed = permissions(['http', 'request', 'allow']);
    const args = { method: 'GET', headers: { a: 'Bearer $credential(pat)' } };
    const whole = { method: 'GET', headers: { a: { $credential: 'pat' } } };
    expect(level(http, allowed, untrusted('http.request'), args)).to.equal('ask');
    expect(level(http, allowed, untrusted('http'), whole)).to.equal('ask');
    expect(level(http, allowed, untrusted('http'), { method: 'GET' })).to.equal('allow');
    expect(level(http, allowed, OWNER, args)).to.equal('allow');
  });

  it('asks for everything that sends bytes out where the agent is untrusted', () => {
    expect(level(time, nothing, untrusted())).to.equal('allow');
    expect(level(read, nothing, untrusted())).to.equal('ask');
    expect(level(http, nothing, untrusted(), { method: 'GET' })).to.equal('ask');
    expect(
      judgeToolCall(http, { method: 'GET' }, { permissions: nothing, trust: untrusted() }),
    ).to.equal({
      level: 'ask',
      because: 'it sends data out, and the agent has read untrusted input',
    });
  });

  it('does not let an override speak for the untrusted, but a grant', () => {
    const open = permissions(['http', '*', 'allow'], ['shell', 'run', 'allow']);
    expect(level(http, open, untrusted())).to.equal('ask');
    expect(level(shell, open, untrusted())).to.equal('ask');
    expect(level(http, nothing, untrusted('http'))).to.equal('allow');
    expect(level(http, nothing, untrusted('http.request'))).to.equal('allow');
    expect(level(shell, nothing, untrusted('http'))).to.equal('ask');
  });

  it('takes the level that was set for the trusted', () => {
    expect(level(shell, permissions(['shell', 'run', 'allow']), OWNER)).to.equal('allow');
    expect(level(time, permissions(['time', 'now', 'ask']), OWNER)).to.equal('ask');
    expect(level(time, permissions(['time', 'now', 'ask']), untrusted())).to.equal('ask');
    expect(
      level(time, permissions(['time', '*', 'ask'], ['time', 'now', 'allow']), OWNER),
    ).to.equal('allow');
  });

  it('lets deny beat a grant, an allowance and the whole skill’s level', () => {
    const denied = permissions(['http', 'request', 'deny'], ['http', '*', 'allow']);
    const all = permissions(['http', '*', 'deny'], ['http', 'request', 'allow']);
    for (const on of [denied, all]) {
      for (const trust of [OWNER, untrusted('http'), untrusted()]) {
        expect(level(http, on, trust)).to.equal('deny');
      }
    }
  });

  it('denies what cannot run, and what takes a right that its user has not', () => {
    expect(denialReason(broken, nothing)).to.equal('It is broken');
    const bare = { ...permissions(['shell', 'run', 'allow']), may: () => false };
    expect(level(shell, bare, untrusted('shell'))).to.equal('deny');
    expect(denialReason(shell, bare)).to.contain('permission "shell"');
  });
});

describe('levelOf', () => {
  it('is the level of a tool in lists', () => {
    expect(getToolLevel(time, nothing)).to.equal('allow');
    expect(getToolLevel(http, nothing)).to.equal('ask');
    expect(getToolLevel(http, permissions(['http', '*', 'allow']))).to.equal('allow');
    expect(getToolLevel(http, permissions(['http', 'request', 'deny']))).to.equal('deny');
    expect(getToolLevel(broken, permissions(['broken', 'run', 'allow']))).to.equal('deny');
  });
});
