import type { ListedTool, SkillReply } from '../../src/client/index.js';
import type { Column } from '../columns.js';
import { oneLine } from '../text.js';

export const skillColumns: Column<SkillReply>[] = [
  { name: 'id', value: (skill) => skill.id },
  { name: 'state', value: (skill) => skill.status, isState: true },
  { name: 'source', value: (skill) => skill.source },
  { name: 'tools', value: (skill) => skill.tools.length, isNumber: true },
  { name: 'about', value: (skill) => skill.reason ?? skill.description },
];

export const toolColumns: Column<ListedTool>[] = [
  { name: 'tool', value: (tool) => `${tool.skillId}.${tool.name}` },
  { name: 'permission', value: (tool) => tool.permission },
  { name: 'source', value: (tool) => tool.source },
  { name: 'about', value: (tool) => tool.description, show: (tool) => oneLine(tool.description) },
];
