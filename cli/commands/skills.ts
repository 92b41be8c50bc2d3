import { contracts } from '../../src/client/index.js';
import type { CommandGroup } from '../command.js';
import { crud } from '../crud.js';
import { listCommand } from '../list.js';
import { skillColumns, toolColumns } from '../skills/columns.js';
import { skillRun } from '../skills/run.js';
import { safe } from '../text.js';

const endpoints = await contracts.skills();

const skillCrud = crud({
  noun: 'skill',
  rows: 'skills',
  endpoints,
  columns: skillColumns,
  named: (skill) => skill,
  isExact: true,
});

const tools = listCommand({
  endpoint: endpoints.tools,
  name: 'tools',
  examples: ['', '--skill-id files', '--all --json'],
  rows: 'tools',
  columns: toolColumns,
  next: ([first]) =>
    first && `Run one: adjutant skills run ${safe(first.skillId)}.${safe(first.name)}`,
});

export const skillsGroup: CommandGroup = {
  commands: [
    skillCrud.list({
      examples: ['', '--source folder', '--status quarantined'],
      next: (rows) => {
        const changed = rows.find(({ status }) => status === 'quarantined');
        if (changed) {
          return `See what changed, and accept it: adjutant mcp accept ${safe(changed.id)}`;
        }
        const bad = rows.find(({ status }) => status === 'invalid' || status === 'failed');
        return bad && `What is wrong: adjutant skills get '${safe(bad.id)}'`;
      },
      seeAlso: 'adjutant skills tools, adjutant mcp add',
    }),
    skillCrud.get({ examples: ['files', 'pdf --json', 'time --fields id,status'] }),
    tools,
    skillRun,
  ],
  notes: ['A skill folder lies in the home, under skills/<name>, and holds a SKILL.md.'],
};
