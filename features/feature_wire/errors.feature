@0.1 @0.2 @0.4
Feature: Errors
  What is wrong with a line is answered with the code for it, and the next line is served.

  @EXT04-ERR-001
  Scenario: A method that no extension has
    Given the extension is ready
    Then each of these lines is answered with the error unknown_method
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{}} |
      | {"id":«id»,"jsonrpc":"2.0","method":"Tool/Call","params":{}}     |
      | {"id":«id»,"jsonrpc":"2.0","method":"tool/call/","params":{}}    |
      | {"id":«id»,"jsonrpc":"2.0","method":"constructor","params":{}}   |
    And the extension goes on serving

  @EXT04-ERR-002
  Scenario: The refusal of a method names it
    Given the extension is ready
    When the host sends the line {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{}}
    And the extension answers with an error
    Then the answer has /error/message ~ conform/probe

  @EXT04-ERR-003
  Scenario: A line that is not JSON
    Given the extension is ready
    Then each of these lines is answered with the error parse_error
      | hello                                         |
      | {"id":7,"jsonrpc":"2.0","method":"shutdown"   |
      | {"id":7,"jsonrpc":"2.0","method":"shutdown",} |
      | «hex 80»                                      |
      | hello«hex FF»                                 |
    And the extension goes on serving

  @EXT04-ERR-004
  Scenario: A request with another version, or without the name of a method
    Given the extension is ready
    Then each of these lines is answered with the error invalid_request
      | {"id":«id»,"jsonrpc":"1.0","method":"conform/probe","params":{}} |
      | {"id":«id»,"jsonrpc":2.0,"method":"conform/probe","params":{}}   |
      | {"id":«id»,"method":"conform/probe","params":{}}                 |
      | {"id":«id»,"jsonrpc":"2.0","method":7,"params":{}}               |
      | {"id":«id»,"jsonrpc":"2.0","method":null,"params":{}}            |
    And the extension goes on serving

  @EXT04-ERR-005
  Scenario: Error codes of a conversation
    Given the extension is ready
    When the host has an ordinary conversation
    Then no frame breaks a rule of this scenario
