Feature: Context
  Pieces of text for the model, asked for or given unasked.

  @0.1 @0.2 @0.4 @EXT04-CTX-001 @EXT04-CTX-002
  Scenario: Context that is asked for
    Given the extension declares context
    And the extension is ready
    When the host asks for the context
    Then no frame breaks a rule of this scenario

  @0.1 @0.2 @0.4 @EXT04-CTX-003
  Scenario: Context of an extension that declares none
    Given the extension declares no context
    And the extension is ready
    Then each of these lines is answered with the error unknown_method
      | {"id":«id»,"jsonrpc":"2.0","method":"context/collect","params":{"context":«context»,"prompt":"octet"}} |
      | {"id":«id»,"jsonrpc":"2.0","method":"context/collect","params":{"context":«context»,"prompt":null}}    |
