import { checkVector, type EmbeddedTexts, invalidVectors } from '../embeddings.js';
import { abortFailure } from '../failure.js';
import { expectAnswer, toLlamaFailure } from './answer.js';
import type { LlamaOpening, LoadedModels } from './loadedmodels.js';

interface VectorDeps {
  residents: LoadedModels;
  opening: LlamaOpening;
  dimensions: number;
}

export const askForVectors = async (
  { residents, opening, dimensions }: VectorDeps,
  texts: string[],
  signal: AbortSignal,
): Promise<EmbeddedTexts> => {
  const { name, modelId: slug, contextWindow } = opening;
  const wanted = { slug, contextWindow, use: 'vectors' as const };
  try {
    return await residents.use(wanted, signal, async (process) => {
      const vectors: number[][] = [];
      const end = await process.ask(
        { do: 'embed', texts },
        { signal, onPart: (part) => part.is === 'vector' && vectors.push(part.vector) },
      );
      signal.throwIfAborted();
      const { usage } = expectAnswer(name, end, 'embedded');
      if (vectors.length !== texts.length)
        throw invalidVectors(name, 'a different number of vectors than texts');
      for (const vector of vectors) checkVector({ name, dimensions }, vector);
      return { vectors, inputTokens: usage.inputTokens };
    });
  } catch (error) {
    if (signal.aborted) throw abortFailure(name, signal);
    throw toLlamaFailure(name, error);
  }
};
