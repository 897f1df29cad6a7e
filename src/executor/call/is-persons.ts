/** Whether a decision is a person's, who has seen the question: an option says so beforehand. */
export function isPersons(by: string | undefined): boolean {
  return by?.startsWith('--') !== true;
}
