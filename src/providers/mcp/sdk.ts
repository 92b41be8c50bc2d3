import { requireIncrementally } from '../../kernel/pieces.js';

/**
 * Takes 170 ms and 28 MB. In one piece it would block the event loop for 50 ms, in these pieces at
 * most 30 ms.
 */
export const loadSdk = requireIncrementally({
  library: '@modelcontextprotocol/sdk/client/index.js',
  pieces: ['ajv/dist/compile/index.js', 'ajv/dist/core.js', 'ajv', 'ajv-formats'],
  load: async () => {
    const types = await import('@modelcontextprotocol/sdk/types.js');
    const { deserializeMessage } = await import('@modelcontextprotocol/sdk/shared/stdio.js');
    const http = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StreamableHTTPClientTransport, StreamableHTTPError } = http;
    return {
      Client,
      StreamableHTTPClientTransport,
      StreamableHTTPError,
      deserializeMessage,
      types,
    };
  },
});

export type McpSdk = Awaited<ReturnType<typeof loadSdk>>;
