Feature: Commands
  A command takes words and gives a text, and perhaps notices and context.

  @0.1 @0.2 @0.4 @EXT04-CMD-001
  Scenario: A command that is not in the catalog
    Given the extension is ready
    Then each of these lines is answered with the error unknown_method
      | {"id":«id»,"jsonrpc":"2.0","method":"command/execute","params":{"arguments":[],"context":«context»,"name":"conform_no_such_command"}} |
      | {"id":«id»,"jsonrpc":"2.0","method":"command/execute","params":{"arguments":[],"context":«context»,"name":"constructor"}}             |
    And the extension goes on serving

  @0.1 @0.2 @0.4 @EXT04-CMD-002
  Scenario: A command without a name, or without a list of words
    Given the extension declares commands
    And the extension is ready
    Then each of these lines is answered with the error invalid_params
      | {"id":«id»,"jsonrpc":"2.0","method":"command/execute","params":{"arguments":[],"context":«context»}}                     |
      | {"id":«id»,"jsonrpc":"2.0","method":"command/execute","params":{"arguments":"you","context":«context»,"name":«command»}} |
      | {"id":«id»,"jsonrpc":"2.0","method":"command/execute","params":{"arguments":{},"context":«context»,"name":«command»}}    |
      | {"id":«id»,"jsonrpc":"2.0","method":"command/execute","params":{"arguments":[7],"context":«context»,"name":«command»}}   |
    And the extension goes on serving

  @0.1 @0.2 @0.4 @EXT04-CMD-003
  Scenario: The results of commands
    Given the extension declares commands
    And the extension is ready
    When the host asks for the commands
    Then no frame breaks a rule of this scenario
