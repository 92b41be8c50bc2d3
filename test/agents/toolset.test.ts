import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createToolset } from '../../src/agents/toolset.js';
import { object } from '../../src/kernel/contract/schema.js';
import { defineTool } from '../../src/tools/tool.js';
import { toolboxFromGroups } from '../../src/tools/toolbox.js';

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
const toolbox = toolboxFromGroups(() =>
  [
    tool('time', 'now'),
    tool('web', 'post', { sendsOut: true, sideEffects: true }),
    tool('shell', 'run', { sideEffects: true, needs: 'shell' }),
    tool('broken', 'run', { unavailable: 'It is broken' }),
  ].map((one) => ({ skillId: one.skillId, description: '', tools: [one] })),
);

const offered = (denied: string[], may: boolean): string[] =>
  createToolset(toolbox.of('user_1'), {
    overrides: denied.map((skill_id) => ({ skill_id, action: '*', level: 'deny' as const })),
    may: () => may,
  }).specs.map(({ name }) => name);

describe('toolsetOf', () => {
  it('offers all that can run: what has effects is judged when it is called', () => {
    expect(offered([], true)).to.equal(['time_now', 'web_post', 'shell_run']);
  });

  it('offers nothing that its owner denied or may not have', () => {
    expect(offered(['web'], true)).to.equal(['time_now', 'shell_run']);
    expect(offered([], false)).to.equal(['time_now', 'web_post']);
  });

  it('finds nothing that is not offered', () => {
    const set = createToolset(toolbox.of('user_1'), { overrides: [], may: () => false });
    for (const name of ['broken_run', 'shell_run', 'nope', '__proto__']) {
      expect(set.find({ id: 'a', name, arguments: {} })).to.be.null();
    }
  });
});
