/** On first use: it takes 170 ms and 28 MB. */
export const loadSdk = async () => {
  const [{ Client }, http, { deserializeMessage }, types] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/index.js'),
    import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
    import('@modelcontextprotocol/sdk/shared/stdio.js'),
    import('@modelcontextprotocol/sdk/types.js'),
  ]);
  const { StreamableHTTPClientTransport, StreamableHTTPError } = http;
  return { Client, StreamableHTTPClientTransport, StreamableHTTPError, deserializeMessage, types };
};

export type Sdk = Awaited<ReturnType<typeof loadSdk>>;
