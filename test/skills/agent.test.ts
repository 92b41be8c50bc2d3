import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { findConfinement } from '../../src/providers/confine/find.js';
import { type Stage, startStage } from '../agents/stage.js';
import { until } from '../harness/app.js';
import { installOddServer, type Odd } from '../harness/mcp.js';
import { says } from '../harness/openai.js';

// Awaited first: a script that waits after Lab.script() is run by lab before it has tests.
const confined = { skip: !(await findConfinement({ allowUnconfined: false })) };

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('an agent', () => {
  let stage: Stage;
  let odd: Odd;
  before(async () => {
    [stage, odd] = [await startStage(), await installOddServer()];
    const folder = join(stage.home, 'skills', 'greet');
    await mkdir(folder, { recursive: true });
    const text = '---\nname: greet\ndescription: How we greet\n---\nSay ahoy.';
    await writeFile(join(folder, 'SKILL.md'), text);
    await stage.ask('POST', '/api/skills/mcp', { name: 'odd', ...odd.server() });
  });
  after(async () => {
    await stage.stop();
    await stage.model.stop();
    await odd.remove();
  });

  const call = (name: string, args: object = {}) =>
    says({ toolCalls: [{ id: 'call_1', name, arguments: JSON.stringify(args) }] });
  const processes = async (): Promise<string[]> => {
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    const lines = await Promise.all(
      pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
    );
    return lines.filter((line) => line.includes(odd.server().args[0] ?? ''));
  };

  it('is told of the skills, and reads one when it is due', async () => {
    stage.model.script(call('skills_read', { skill: 'greet' }), says({ text: 'Ahoy' }));
    const { id } = await stage.spawn({ prompt: 'Greet me' });
    const { sessionId } = await stage.reaches(id);
    const { tools = [] } = stage.model.asked.at(-1)?.body ?? {};
    expect(JSON.stringify(tools)).to.contain('- greet: How we greet');
    const answer = (await stage.messages(sessionId)).find(({ role }) => role === 'tool');
    expect(JSON.parse(answer?.content ?? '')).to.equal({ instructions: 'Say ahoy.', files: [] });
  });

  it('is untrusted once an MCP server has answered (needs bubblewrap)', confined, async () => {
    stage.model.script(call('odd_echo', { text: 'x' }), says({ text: 'Done' }));
    const { id } = await stage.spawn({ prompt: 'Ask it', tools: ['odd.echo'] });
    const agent = await stage.reaches(id);
    expect(agent).to.include({ status: 'completed', result: 'Done', untrusted: true });
  });

  it('that is stopped ends the server that it waits for (needs bubblewrap)', confined, async () => {
    stage.model.script(call('odd_hang'));
    const { id } = await stage.spawn({ prompt: 'Hang', tools: ['odd.hang'] });
    await until(
      () => stage.events(id),
      (events) => events.some(({ data }) => data.phase === 'call'),
    );
    await until(processes, (lines) => lines.length > 0);
    await stage.ask('POST', `/api/agents/${id}/stop`);
    await until(processes, (lines) => lines.length === 0);
  });
});
