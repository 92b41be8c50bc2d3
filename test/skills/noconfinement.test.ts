import { tmpdir } from 'node:os';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createHttp } from '../../src/kernel/http.js';
import { McpFailed } from '../../src/providers/mcp/connection.js';
import { mcpGroup } from '../../src/skills/mcptools.js';
import { NO_CONFINEMENT_MESSAGE, reach } from '../../src/skills/reach.js';
import { splitServerEntry } from '../../src/skills/spec.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('a program of an MCP server, where no confinement works', () => {
  const { spec, secrets } = splitServerEntry({ command: 'touch', args: ['it-was-started'] });

  it('is not started', async () => {
    const http = createHttp({ allow: [] });
    const deps = {
      http,
      confinement: null,
      home: tmpdir(),
      version: '1',
      folderOf: async () => tmpdir(),
    };
    const asked = { target: { orgId: null, name: 'one', spec, secrets }, userId: 'user_1' };
    const error = await reach(deps, asked, new AbortController().signal).catch(
      (reason: unknown) => reason,
    );
    expect(error).to.be.instanceof(McpFailed);
    expect(error).to.include({ kind: 'unreached', message: NO_CONFINEMENT_MESSAGE });
    await http.close();
  });

  it('has tools that say why they cannot run', () => {
    const definition = { name: 'do', description: '', inputSchema: { type: 'object' } };
    const pins = [{ tool: 'do', pinned: definition, offered: definition }];
    const { tools } = mcpGroup(
      { name: 'one', orgId: null, spec, whyOff: NO_CONFINEMENT_MESSAGE },
      pins,
      async () => null,
    );
    expect(tools.map(({ unavailable }) => unavailable)).to.equal([NO_CONFINEMENT_MESSAGE]);
  });
});
