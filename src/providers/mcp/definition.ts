import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { isDeeper } from '../../kernel/depth.js';

/**
 * Annotations, by which a server declares a tool harmless, are omitted, because nothing proves
 * them.
 */
export interface Definition {
  name: string;
  /** Complete. It is cut where it is shown. */
  description: string;
  inputSchema: Record<string, unknown>;
}

const NAME = /^[A-Za-z0-9_./-]{1,128}$/;
const MAX_DESCRIPTION = 16_384;
const MAX_SCHEMA = 32_768;
const MAX_DEPTH = 32;
/** More tools would fill the context of a model. */
export const MAX_TOOLS = 200;

/** Null if the tool cannot be shown to a model. */
export const parseDefinition = ({
  name,
  description = '',
  inputSchema,
}: Tool): Definition | null => {
  if (!NAME.test(name) || description.length > MAX_DESCRIPTION) return null;
  if (isDeeper(inputSchema, MAX_DEPTH)) return null;
  if (JSON.stringify(inputSchema).length > MAX_SCHEMA) return null;
  return { name, description, inputSchema };
};
