import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { object } from '../../../src/kernel/schema.js';
import { toolsetOf } from '../../../src/runtime/agents/toolset.js';
import { defineTool } from '../../../src/runtime/tools/tool.js';
import { toolboxOf } from '../../../src/runtime/tools/toolbox.js';

export const lab = Lab.script();
const { describe, it } = lab;

const input = object('ToolsetTestInput', {});
const tool = (skillId: string, name: string, traits: object = {}) =>
  defineTool({
    skillId,
    name,
    description: '',
    input,
    ...{ sideEffects: false, once: false, sendsOut: false, outside: false },
    run: async () => null,
    ...traits,
  });
const toolbox = toolboxOf(
  [
    tool('time', 'now'),
    tool('web', 'read', { sendsOut: true }),
    tool('web', 'post', { sendsOut: true, sideEffects: true }),
    tool('shell', 'run', { sideEffects: true }),
    tool('broken', 'run', { unavailable: 'It is broken' }),
  ].map((one) => ({ skillId: one.skillId, description: '', tools: [one] })),
);

const offered = (tools: string[] | null, untrusted: 0 | 1, mayUseShell: boolean): string[] =>
  toolsetOf({ tools: tools && JSON.stringify(tools), untrusted }, toolbox, mayUseShell).specs.map(
    ({ name }) => name,
  );

describe('toolsetOf', () => {
  it('offers what has no effect', () => {
    expect(offered(null, 0, true)).to.equal(['time_now', 'web_read']);
  });

  it('offers an untrusted agent nothing that sends bytes off the machine', () => {
    expect(offered(null, 1, true)).to.equal(['time_now']);
  });

  it('offers what was granted, one tool or all of a skill, untrusted or not', () => {
    expect(offered(['web.post'], 1, true)).to.equal(['time_now', 'web_post']);
    expect(offered(['web'], 1, true)).to.equal(['time_now', 'web_read', 'web_post']);
  });

  it('offers shell to the agents of admins alone, and only where it was granted', () => {
    expect(offered(['shell'], 0, true)).to.include('shell_run');
    expect(offered(['shell.run'], 1, true)).to.include('shell_run');
    expect(offered(['shell'], 0, false)).to.not.include('shell_run');
    expect(offered([], 0, true)).to.not.include('shell_run');
  });

  it('offers nothing that cannot run, and finds nothing that is not offered', () => {
    const set = toolsetOf({ tools: '["broken"]', untrusted: 0 }, toolbox, true);
    expect(set.specs.map(({ name }) => name)).to.not.include('broken_run');
    for (const name of ['broken_run', 'shell_run', 'nope', '__proto__']) {
      expect(set.find({ id: 'a', name, arguments: {} })).to.be.null();
    }
  });
});
