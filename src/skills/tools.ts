import { ConfinedPathError } from '../kernel/confinedpath.js';
import * as s from '../kernel/contract/schema.js';
import { defineTool, HARMLESS, refusal, type Tool, type ToolGroup } from '../tools/module.js';
import type { FolderSkill, SkillFolders } from './folders.js';
import { InvalidSkill } from './frontmatter.js';

/** Maximum total length of the descriptions in a prompt. `skills.list` returns the rest. */
const MAX_TOLD = 6_000;

const ListInput = s.object('SkillsListInput', {});
const ReadInput = s.object('SkillsReadInput', {
  skill: s.text(64).description('Name of the skill'),
  path: s.optional(s.text(1_000).description('File of the skill. Defaults to the instructions.')),
});

const traits = { skillId: 'skills', ...HARMLESS };

/** Short descriptions first, the rest on request. */
export const skillsTools = (folders: SkillFolders, skills: FolderSkill[]): ToolGroup => {
  const usable = skills.flatMap(({ file }) => (file ? [file] : []));
  return {
    skillId: 'skills',
    description: 'Instructions for certain tasks, from the folder skills',
    tools: [listTool(usable), readTool(folders, usable)],
  };
};

type Usable = NonNullable<FolderSkill['file']>[];

const listTool = (usable: Usable): Tool =>
  defineTool({
    ...traits,
    name: 'list',
    description: 'List all skills. Returns { skills: [{ name, description }] }.',
    input: ListInput,
    run: async () => ({ skills: usable }),
  });

const readTool = (folders: SkillFolders, usable: Usable): Tool =>
  defineTool({
    ...traits,
    name: 'read',
    description:
      'Read the instructions of a skill. Call it before you begin a task that matches a skill. ' +
      `Returns { instructions, files }, or { text } of a file with path. ${skillList(usable)}`,
    input: ReadInput,
    run: async ({ skill, path }, _, tool) => {
      if (!usable.some((one) => one.name === skill)) {
        throw refusal(tool, [{ path: 'skill', message: 'must be the name of a skill' }]);
      }
      try {
        if (path !== undefined) return { text: await folders.read(skill, path) };
        const { body, files, isCut } = await folders.open(skill);
        return { instructions: body, files, ...(isCut && { truncated: true }) };
      } catch (error) {
        if (!(error instanceof ConfinedPathError || error instanceof InvalidSkill)) throw error;
        const at = path === undefined ? 'skill' : 'path';
        throw refusal(tool, [{ path: at, message: `cannot be used: ${error.message}` }]);
      }
    },
  });

const skillList = (usable: Usable): string => {
  if (usable.length === 0) return 'There are no skills yet.';
  const lines: string[] = [];
  let left = MAX_TOLD;
  for (const { name, description } of usable) {
    const line = `- ${name}: ${description.replace(/\s+/g, ' ')}`;
    left -= line.length;
    if (left < 0) return `Skills:\n${lines.join('\n')}\nskills.list returns the others.`;
    lines.push(line);
  }
  return `Skills:\n${lines.join('\n')}`;
};
