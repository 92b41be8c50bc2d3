import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { isDeeper } from '../../kernel/depth.js';

/**
 * One tool as its server describes it, as far as a model sees it. The server's claims that a tool
 * is harmless (annotations) are left out, since nothing proves them.
 */
export interface Definition {
  name: string;
  /** The whole description; it is cut where it is shown. */
  description: string;
  inputSchema: Record<string, unknown>;
}

const NAME = /^[A-Za-z0-9_./-]{1,128}$/;
const MAX_DESCRIPTION = 16_384;
const MAX_SCHEMA = 32_768;
const MAX_DEPTH = 32;
/** The most tools of a server. Ours: with more, it would fill a model's context with them alone. */
export const MAX_TOOLS = 200;

/** Returns the definition of a tool; null if it cannot or should not be shown to a model. */
export const definitionOf = ({ name, description = '', inputSchema }: Tool): Definition | null => {
  if (!NAME.test(name) || description.length > MAX_DESCRIPTION) return null;
  if (isDeeper(inputSchema, MAX_DEPTH)) return null;
  if (JSON.stringify(inputSchema).length > MAX_SCHEMA) return null;
  return { name, description, inputSchema };
};
