import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { type Definition, MAX_TOOLS, parseDefinition } from './definition.js';
import type { McpSdk } from './sdk.js';

const LIST_MS = 15_000;
const MAX_PAGES = 20;

/** Cached until the server reports a change. */
export const createListing = (
  sdk: McpSdk,
  client: Client,
  fail: (error: unknown) => Promise<Error>,
): (() => Promise<Definition[]>) => {
  let listed: Promise<Definition[]> | null = null;
  client.setNotificationHandler(sdk.types.ToolListChangedNotificationSchema, () => {
    listed = null;
  });
  return () => {
    listed ??= list(sdk, client).catch(async (error) => {
      listed = null;
      throw await fail(error);
    });
    return listed;
  };
};

const list = async ({ types }: McpSdk, client: Client): Promise<Definition[]> => {
  if (!client.getServerCapabilities()?.tools) return [];
  const found = new Map<string, Definition>();
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const request = { method: 'tools/list' as const, params: { cursor } };
    // `listTools` would compile the output schemas of the server, including their patterns.
    const reply = await client.request(request, types.ListToolsResultSchema, { timeout: LIST_MS });
    for (const tool of reply.tools) {
      const definition = parseDefinition(tool);
      if (definition && !found.has(tool.name)) found.set(tool.name, definition);
    }
    cursor = reply.nextCursor;
    if (cursor === undefined || found.size >= MAX_TOOLS) break;
  }
  return [...found.values()].slice(0, MAX_TOOLS);
};
