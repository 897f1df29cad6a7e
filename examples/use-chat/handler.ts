import { convertToModelMessages, isStepCount, type LanguageModel, streamText, type UIMessage } from 'ai';
import type { Executor } from 'toolexec';
import { aiTools } from 'toolexec/ai-sdk';

/** Answers the requests of `useChat`. It keeps nothing: the page sends the messages, the journal has the approvals. */
export function chatHandler(executor: Executor, model: LanguageModel) {
  return async (request: Request): Promise<Response> => {
    // #region handler
    const { id, messages } = (await request.json()) as { id: string; messages: UIMessage[] };
    const { tools, toolApproval } = aiTools(executor, { conversation: id });
    const result = streamText({
      model,
      messages: await convertToModelMessages(messages, { tools }),
      tools,
      toolApproval,
      stopWhen: isStepCount(5),
    });
    return result.toUIMessageStreamResponse({ originalMessages: messages });
    // #endregion handler
  };
}
