/**
 * The used part of Mastra. It is not installed here, because it needs Node 22.13 and brings 150 packages. The
 * soak compiles and runs our tools with the real package. A program that imports `toolexec/mastra` gets the real types.
 */
declare module '@mastra/core/tools' {
  export function createTool(options: {
    id: string;
    description: string;
    inputSchema: object;
    execute(args: unknown, context: object): Promise<unknown>;
    toModelOutput(output: unknown): unknown;
  }): import('@mastra/core/agent').ToolsInput[string];
}

declare module '@mastra/core/agent' {
  export type ToolsInput = Record<string, { id: string; description: string }>;
}
