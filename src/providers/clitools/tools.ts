import { claude } from './claude.js';
import { codex } from './codex.js';
import { gemini } from './gemini.js';
import { opencode } from './opencode.js';
import type { CliTool, ToolName } from './tool.js';

export const cliTools: Record<ToolName, CliTool> = { claude, codex, gemini, opencode };

/** A leading dash would be read as a flag. */
const MODEL_ID = /^(claude|codex|gemini|opencode)(?::([A-Za-z0-9][\w.:@/+[\]-]{0,150}))?$/;

/** For `claude` or `claude:opus`. */
export const findCliTool = (modelId: string): { tool: CliTool; model: string | null } | null => {
  const [, name, model = null] = MODEL_ID.exec(modelId) ?? [];
  const tool = Object.values(cliTools).find((each) => each.name === name);
  return tool ? { tool, model } : null;
};

/** Name of the grant: `cli:claude`. */
export const cliGrant = ({ name }: Pick<CliTool, 'name'>): string => `cli:${name}`;
