import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createToolbox, functionName, toolboxOf } from '../../../src/runtime/tools/toolbox.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('createToolbox', () => {
  const toolbox = createToolbox({
    http: {
      request: async () => {
        throw new Error('nothing is asked for here');
      },
    },
    confinement: null,
    notify: async () => {},
    clock: { now: () => 0 },
  });
  const nameOf = (tool: { skillId: string; name: string } | null) =>
    tool && `${tool.skillId}.${tool.name}`;

  it('lists the built-in groups and tools, those that cannot run included', () => {
    expect(toolbox.groups().map((group) => group.skillId)).to.equal([
      'http',
      'time',
      'notify',
      'shell',
    ]);
    expect(toolbox.list().map(nameOf)).to.equal([
      'http.request',
      'time.now',
      'notify.send',
      'shell.run',
    ]);
    const off = toolbox.list().filter((tool) => tool.unavailable);
    expect(off.map(nameOf)).to.equal(['shell.run']);
  });

  it('finds a tool by skill and name, exactly', () => {
    const found = [
      toolbox.find('http', 'request'),
      toolbox.find('http', 'now'),
      toolbox.find('__proto__', 'constructor'),
    ];
    expect(found.map(nameOf)).to.equal(['http.request', null, null]);
  });

  it('translates to the names that models use and back', () => {
    const names = toolbox.list().map(functionName);
    expect(names).to.equal(['http_request', 'time_now', 'notify_send', 'shell_run']);
    expect(names.map((name) => nameOf(toolbox.byFunction(name)))).to.equal(
      toolbox.list().map(nameOf),
    );
    expect(toolbox.byFunction('http.request')).to.be.null();
  });

  it('describes every tool by an object that takes nothing unknown', () => {
    const schemas = toolbox.list().map((tool) => tool.inputSchema);
    expect(schemas.map((schema) => [schema.type, schema.additionalProperties])).to.equal(
      Array(4).fill(['object', false]),
    );
  });

  it('refuses two tools that a model could not tell apart', () => {
    const groups = toolbox.groups();
    expect(() => toolboxOf([...groups, ...groups])).to.throw('Two tools share a function name');
    expect(functionName({ skillId: 'my server', name: 'do/it' })).to.equal('my_server_do_it');
  });
});
