import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { isDeeper } from '../../kernel/depth.js';

/**
 * One tool as its server describes it, as far as a model is told. What a server says of its tools'
 * harmlessness (annotations) is left out: nothing proves it.
 */
export interface Definition {
  name: string;
  /** Whole; what is too long is cut where it is shown. */
  description: string;
  inputSchema: Record<string, unknown>;
}

const NAME = /^[A-Za-z0-9_./-]{1,128}$/;
const MAX_DESCRIPTION = 16_384;
const MAX_SCHEMA = 32_768;
const MAX_DEPTH = 32;
/** Ours: a server beyond it would fill a model's context with its tools alone. */
export const MOST_TOOLS = 200;

/** Null: no model could be told of it, or should be. */
export const definitionOf = ({ name, description = '', inputSchema }: Tool): Definition | null => {
  if (!NAME.test(name) || description.length > MAX_DESCRIPTION) return null;
  if (isDeeper(inputSchema, MAX_DEPTH)) return null;
  if (JSON.stringify(inputSchema).length > MAX_SCHEMA) return null;
  return { name, description, inputSchema };
};
