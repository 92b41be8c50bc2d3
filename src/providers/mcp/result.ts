import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';

export interface McpResult {
  /** Whether the tool reports a failure, which `text` describes. */
  isError: boolean;
  text: string;
  /** Missing if it is too large. */
  structured?: Record<string, unknown>;
  /** Set if the result is incomplete. */
  truncated?: true;
}

const MAX_TEXT = 256 * 1024;
const MAX_STRUCTURED = 256 * 1024;

export const toMcpResult = ({
  content,
  structuredContent: structured,
  isError = false,
}: CallToolResult): McpResult => {
  const text = content.map(formatContent).join('\n');
  const fits = structured !== undefined && JSON.stringify(structured).length <= MAX_STRUCTURED;
  const isCut = text.length > MAX_TEXT || (structured !== undefined && !fits);
  return {
    isError,
    text: text.slice(0, MAX_TEXT),
    ...(fits && { structured }),
    ...(isCut && { truncated: true }),
  };
};

/** Other content is shown as its kind and size. */
const formatContent = (part: CallToolResult['content'][number]): string => {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'resource':
      return 'text' in part.resource
        ? part.resource.text
        : `[${part.resource.uri}: ${formatKindAndSize(part.resource.mimeType, part.resource.blob)}]`;
    case 'resource_link':
      return `[${part.name}: ${part.uri}]`;
    default:
      return `[${formatKindAndSize(part.mimeType, part.data)}]`;
  }
};

const formatKindAndSize = (type: string | undefined, base64: string): string =>
  `${type ?? 'data'}, ${Math.floor((base64.length * 3) / 4)} bytes`;
