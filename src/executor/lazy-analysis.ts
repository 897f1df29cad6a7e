import type { AnalyzeCommand } from '../policy/analyze.js';

/** What understands command lines: its modules and a grammar, loaded when a command is first run. */
export interface LazyAnalysis {
  readonly analyze: AnalyzeCommand;
  /** Before anything is analysed; undefined: it is loaded. */
  load(): Promise<void> | undefined;
}

export function lazyAnalysis(): LazyAnalysis {
  let loaded: AnalyzeCommand | undefined;
  return {
    analyze(text, shell) {
      // Whoever asks too early gets no answer, and the policy lets nothing through.
      if (loaded === undefined) throw new Error('commands cannot be analysed before the analysis is loaded');
      return loaded(text, shell);
    },
    load() {
      if (loaded !== undefined) return undefined;
      return import('../policy/shell/analyze-command.js').then(({ analyzeCommand }) => {
        loaded = analyzeCommand;
      });
    },
  };
}
