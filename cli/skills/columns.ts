import type { ListedTool, SkillReply } from '../../src/client/index.js';
import { fieldColumns, shownAs, type TableColumn } from '../columns.js';
import { oneLine } from '../text.js';

export const skillColumns: TableColumn<SkillReply>[] = [
  { name: 'id', value: (skill) => skill.id },
  { name: 'state', value: (skill) => skill.status, isState: true },
  { name: 'source', value: (skill) => skill.source },
  { name: 'tools', value: (skill) => skill.tools.length, isNumber: true },
  { name: 'about', value: (skill) => skill.reason ?? skill.description },
];

export const toolColumns: TableColumn<ListedTool>[] = [
  { name: 'tool', value: (tool) => `${tool.skillId}.${tool.name}` },
  ...fieldColumns('permission', 'source'),
  shownAs('about', (tool) => tool.description, oneLine),
];
