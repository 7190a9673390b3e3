@0.1 @0.2 @0.4
Feature: An extension is a process, with all that it starts
  Its standard error is read whatever happens, and what it leaves behind holds nobody up.

  @EXT04-PROC-006
  Scenario: An extension that says a lot on the side
    Given an extension with the script
      """
      on tool/call
      shout 4194304
      then
      say «answer»
      """
    When the host calls the tool "echo"
    Then the host says what the tool said

  @EXT04-PROC-007
  Scenario: A descendant that holds the output open
    Given an extension that leaves a process behind that holds its output open
    When the host calls the tool "echo"
    Then the host says what the tool said
    And nothing of the extension is left
